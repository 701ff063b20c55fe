"""Migrations in plain SQL: each revision is a pair of scripts, `up` and `down`, with a thin Python file for Alembic."""
