"""Keep: bodies of pages, as far as a domain's content policy asks for them."""
