"""Masks secrets in text that is shown or stored: user and password of a URL, and parameters that are credentials.
Pure."""

import re
from typing import Any

MASK = "***"
ACCOUNT = re.compile(r"(?i)\b([a-z][a-z0-9+.-]*://)[^/\s?#\"'<>]*@")
PARAMETER = re.compile(
    r"(?i)([?&;](?:[a-z0-9_.-]*(?:password|passwd|secret|token|signature|credential)|pwd|pass|sig|(?:[a-z0-9.-]*[_-])?key|apikey)"
    r"=)[^&;#\s\"'<>]+"
)


def mask_accounts(text: str) -> str:
    """Returns the text with `***` instead of the user and password of every URL in it."""
    return ACCOUNT.sub(rf"\1{MASK}@", text) if "@" in text and "://" in text else text


def mask_urls(text: str) -> str:
    """Also masks the values of parameters that are named like credentials. For settings and addresses that an operator
    entered: in the URL of a crawled page, `?key=` is part of its identity."""
    return PARAMETER.sub(rf"\1{MASK}", mask_accounts(text)) if "://" in text else text


def mask_value(value: Any) -> Any:
    """Does the same for a value that may be a list, or not text at all."""
    if isinstance(value, list):
        return [mask_value(each) for each in value]
    return mask_urls(value) if isinstance(value, str) else value
