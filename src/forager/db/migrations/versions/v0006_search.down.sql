DROP TABLE search_marks, search_words, search_languages, indexed_products, indexed_pages, page_clusters;
DROP INDEX pages_read;
