"""Body storage: bodies of pages, as far as a domain's content policy requires them."""
