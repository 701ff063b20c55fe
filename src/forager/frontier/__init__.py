"""The frontier: pages, tasks and links. Workers claim, enqueue and record; the queue is the open end of the history."""
