"""Strangers' image files → what they are, in a process of its own, with a limit on memory, pixels and time."""
