"""PostgreSQL, embedded or external: opening it, its schema and migrations, and named SQL statements.

Holds no table's statements: those live with the table's owner.
"""
