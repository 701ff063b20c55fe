DROP TRIGGER pages_gone ON pages;
DROP FUNCTION end_page_era();
DROP TABLE page_era;
