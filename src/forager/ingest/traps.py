"""Links that never end: shapes of URLs that only machines make. A refused link is counted, never silently lost.

Depth and budgets end every crawl; these rules end the worst of it earlier.
"""

import re
from collections import Counter

LONGEST_URL = 2000
MOST_SEGMENTS = 24
MOST_PARAMETERS = 16
MOST_REPEATS = 3

_SESSION = re.compile(r"[?&;](?:phpsessid|jsessionid|sid|session_?id|cfid|cftoken)=", re.IGNORECASE)
_BINARY = re.compile(
    r"\.(?:7z|aac|apk|avi|avif|bin|bmp|bz2|css|deb|dmg|docx?|eot|epub|exe|flac|flv|gif|gz|ico|iso|jar|jpe?g|js|m4[av]|mkv|mobi|mov"
    r"|mp[34]|mpe?g|msi|odt|og[agv]|otf|pdf|png|pptx?|rar|rpm|rtf|svg|swf|t[gx]z|tar|tiff?|ttf|wasm|wav|web[mp]|wm[av]|woff2?|xlsx?|xz|zip)$",
    re.IGNORECASE,
)


def is_binary(url: str) -> bool:
    """A link to a file we do not read, told by its ending."""
    path = url.partition("?")[0]
    return path.rfind(".", len(path) - 6) > 0 and _BINARY.search(path) is not None


def is_trap(url: str) -> bool:
    """Too long, too deep a path, the same segment again and again, too many parameters, or a session in the URL."""
    if len(url) > LONGEST_URL or url.count("&") >= MOST_PARAMETERS:
        return True
    if ("?" in url or ";" in url) and _SESSION.search(url):
        return True
    segments = url.partition("?")[0].split("/")[3:]
    if len(segments) <= MOST_REPEATS:
        return False
    return len(segments) > MOST_SEGMENTS or _repeats(segments)


def _repeats(segments: list[str]) -> bool:
    """`/a/b/a/b/a/b`: a segment that comes back more than three times. Numbers may (`/2024/01/01/`)."""
    counts = Counter(segment for segment in segments if segment and not segment.isdigit())
    return bool(counts) and max(counts.values()) > MOST_REPEATS
