"""A web with the make-up of real pages: sizes, scripts, styles, structured data, nesting and links as measured on them.

What real pages consist of is in `makeup`, from a survey of 1,449 saved ones; `python -m bench calibrate` compares.
"""

from forager_playground.sites.lifelike.site import Lifelike, lifelike_sites

__all__ = ["Lifelike", "lifelike_sites"]
