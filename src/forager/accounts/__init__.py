"""Who may do what: people, their sessions and tokens, and the log of what they changed."""
