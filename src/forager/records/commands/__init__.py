"""Commands of records and of the extractors that find them."""
