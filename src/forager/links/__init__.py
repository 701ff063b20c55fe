"""Selects the links of a page that are worth enqueueing. Pure: never touches the network or the database."""
