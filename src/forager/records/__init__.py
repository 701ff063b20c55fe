"""Records: what extractors find on pages, with evidence, validation and history per field."""
