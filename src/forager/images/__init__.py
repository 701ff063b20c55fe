"""Images: found on pages, stored once, with the pages they were seen on."""
