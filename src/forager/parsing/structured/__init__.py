"""Parses the structured data of a page: JSON-LD, microdata, RDFa, OpenGraph."""

from forager.parsing.structured.data import StructuredData, read_structured
from forager.parsing.structured.items import Item, Value, text_of

__all__ = ["Item", "StructuredData", "Value", "read_structured", "text_of"]
