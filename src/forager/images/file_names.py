"""Names of image files that are saved for a person: the number, the name in the URL, the ending of the format. Pure."""

import re
from urllib.parse import unquote, urlsplit

LONGEST = 80
ENDINGS = {"jpeg": "jpg", "tiff": "tif"}
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def file_name(number: int, url: str, file_format: str | None) -> str:
    """Returns `12-blue-kettle.jpg`: unique by its number, and safe on every file system whatever the URL holds."""
    last = unquote(urlsplit(url).path).rstrip("/").rpartition("/")[2]
    stem = _UNSAFE.sub("-", last.rpartition(".")[0] or last).strip(".-")[:LONGEST].rstrip(".-")
    ending = ENDINGS.get(file_format or "", file_format or "bin")
    return f"{number}-{stem}.{ending}" if stem else f"{number}.{ending}"
