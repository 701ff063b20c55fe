"""Periodic duties, one file each, and the timetable that has each of them done once when its time comes."""
