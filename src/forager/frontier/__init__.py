"""The frontier: pages, tasks and links. Claim, learn, record; the queue is the history's open end."""
