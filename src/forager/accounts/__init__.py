"""Accounts and permissions: users, their sessions and tokens, and the audit log of their changes."""
