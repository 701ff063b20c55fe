"""`forager mcp`, and the tools it serves: each calls the function that the command of the same name calls."""
