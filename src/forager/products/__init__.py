"""Products and their price history: what pages state, stored only when it changes."""
