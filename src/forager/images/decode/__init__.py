"""Inspects untrusted image files in a separate process, with limits on memory, pixels and time."""
