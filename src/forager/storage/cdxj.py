"""Lines of a CDXJ index: the location of each capture of a URL, sorted by host, path and time. Pure."""

import json
from datetime import UTC, datetime
from urllib.parse import urlsplit


def surt(url: str) -> str:
    """`http://www.a.example:81/x?y` → `example,a:81)/x?y`: groups the captures of a site."""
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    port = f":{parts.port}" if parts.port else ""
    turned = host if _is_address(host) else ",".join(reversed(host.split(".")))
    query = f"?{parts.query}" if parts.query else ""
    return f"{turned}{port}){parts.path or '/'}{query}".lower().replace(" ", "%20")


def index_line(
    url: str, at: datetime, status_code: int, content_type: str, digest: str, *, is_revisit: bool = False
) -> str:
    """Returns all of a line except the position in a file."""
    kind = content_type.partition(";")[0].strip().lower() or "unk"
    fields = {"url": url, "mime": "warc/revisit" if is_revisit else kind, "status": str(status_code), "digest": digest}
    return f"{surt(url)} {at.astimezone(UTC):%Y%m%d%H%M%S} {json.dumps(fields)}"


def with_offset(line: str, name: str, offset: int, length: int) -> str:
    """Returns the whole line."""
    place = json.dumps({"length": str(length), "offset": str(offset), "filename": name})
    return f"{line[:-1]}, {place[1:]}"


def end_of(line: str) -> int | None:
    """Returns the offset in its file at which the record of a line ends; None for an incomplete line."""
    try:
        fields = json.loads(line.split(" ", 2)[2])
        return int(fields["offset"]) + int(fields["length"])
    except (IndexError, KeyError, ValueError, TypeError):
        return None


def _is_address(host: str) -> bool:
    return ":" in host or host.replace(".", "").isdigit()
