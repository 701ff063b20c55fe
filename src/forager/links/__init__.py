"""Select: from the links a page wrote to the links worth knowing. Pure; never touches the network or the database."""

from forager.links.scope import Reach
from forager.links.select import Selector

__all__ = ["Reach", "Selector"]
