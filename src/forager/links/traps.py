"""Detects endless links by the URL alone. Pure and fast: runs for every uncached link.

Every rule has a name. A link it drops is counted under that name, recorded with its domain, explained by `forager why`,
and the rule can be released for a domain. A session id is removed from the URL; the link is kept. `repetition.py`
detects endless URLs that look harmless; depth limits and budgets end every crawl.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType

LONGEST_URL = 2000
MOST_SEGMENTS = 24
MOST_REPEATS = 3
MOST_PARAMETERS = 16
MOST_OF_ONE_PARAMETER = 6
"""A shop may offer six colours; more values indicate a list that grows."""
YEARS_AHEAD = 10
FIRST_YEAR = 1900

SESSION_ID = "session_id"
SESSION_NAMES = (
    r"(?:phpsessid|jsessionid|aspsessionid\w*|asp\.net_sessionid|cfid|cftoken|(?:php)?sess(?:ion)?_?id|oscsid|zenid|xtcsid"
    r"|sess(?:ion)?_?(?:key|token|hash))"
)
MAYBE_SESSION_NAMES = r"(?:s_?id|sess|session|jsession)"
"""`sid` may be the id of a story: only a value that looks random is a session id."""
DRAWN_BY_LOT = r"(?=[^&;/?#]*[0-9])[A-Za-z0-9_.~-]{8,}"

_PLAIN_SLASHES = 5
"""With at most five slashes there are three segments, too few for one to repeat too often."""
_SESSION = re.compile(rf"[?&;](?:{SESSION_NAMES}=|{MAYBE_SESSION_NAMES}={DRAWN_BY_LOT}(?:[&;/?]|$))", re.IGNORECASE)
_SESSION_FOLDER = re.compile(r"/(?:\((?:[A-Z]\([A-Za-z0-9_-]+\))+\)|S\([A-Za-z0-9_-]{4,}\))(?=[/?]|$)")
"""`/(S(lit3py55t21z5v55vlm25s55))/`, as ASP.NET writes it for clients without cookies."""
_SESSION_PIECE = re.compile(
    rf";(?:{SESSION_NAMES}=[^&;/?]*|{MAYBE_SESSION_NAMES}={DRAWN_BY_LOT}(?=[&;/?]|$))", re.IGNORECASE
)
_SESSION_PARAMETER = re.compile(rf"{SESSION_NAMES}(?:=.*)?|{MAYBE_SESSION_NAMES}={DRAWN_BY_LOT}", re.IGNORECASE)
_NESTED = re.compile(r"%2525", re.IGNORECASE)
"""A URL nested twice in a URL: the result of a login page that links to itself."""
_CALENDAR_WORD = re.compile(r"alend[ae]?r|agenda\b|[?&](?:month|date)=", re.IGNORECASE)
_YEAR_AND_MONTH = re.compile(
    r"(?<![0-9])([0-9]{4,6})[/_-](?:0?[1-9]|1[0-2])(?![0-9])|[?&]date=([0-9]{4})[0-9]{4}(?![0-9])", re.IGNORECASE
)
_YEAR_IN_QUERY = re.compile(r"[?&]year=([0-9]{1,6})(?![0-9])", re.IGNORECASE)
_MONTH_IN_QUERY = re.compile(r"[?&]month=", re.IGNORECASE)
_BINARY = re.compile(
    r"(?<!\.xml)\.(?:7z|aac|apk|avi|avif|bin|bmp|bz2|css|deb|dmg|docx?|eot|epub|exe|flac|flv|gif|gz|ico|iso|jar|jpe?g|js|m4[av]|mkv|mobi|mov"
    r"|mp[34]|mpe?g|msi|odt|og[agv]|otf|pdf|png|pptx?|rar|rpm|rtf|svg|swf|t[gx]z|tar|tiff?|ttf|wasm|wav|web[mp]|wm[av]|woff2?|xlsx?|xz|zip)$",
    re.IGNORECASE,
)


def is_binary(url: str) -> bool:
    """Whether a link names a file Forager does not parse, by its extension; compressed sitemaps are parsed."""
    path = url.partition("?")[0]
    dot = path.rfind(".", len(path) - 6)
    return dot > 0 and _BINARY.match(path, dot) is not None


def is_document(url: str) -> bool:
    """Whether a link names a document that Forager parses where its domain wants documents, by its extension."""
    return url.partition("?")[0][-4:].lower() == ".pdf"


def trap_in(url: str, latest_year: int, released: frozenset[str] = frozenset()) -> str | None:
    """Returns the first rule that a URL breaks, or None. `latest_year` is the last year a calendar may show."""
    if not _is_trap_candidate(url):
        return None
    return next((rule for rule, holds in RULES.items() if rule not in released and holds(url, latest_year)), None)


def _is_trap_candidate(url: str) -> bool:
    """Checks cheaply for features that the rules require: most links have none, and skip the rules at a tenth of their
    cost."""
    low = url.lower()
    if "alend" in low or "agenda" in low or "(" in low or len(low) > LONGEST_URL:
        return True
    path, mark, query = low.partition("?")
    if path.count("/") > _PLAIN_SLASHES:
        segments = path.split("/")
        if len(segments) - len(set(segments)) >= MOST_REPEATS or len(segments) > MOST_SEGMENTS:
            return True
    if not mark and ";" not in path:
        return False
    return (
        "sess" in low
        or "sid=" in low
        or "s_id=" in low
        or "cf" in low
        or "zenid=" in low
        or "month=" in low
        or "date=" in low
        or "%25" in low
        or "%2f" in low
        or query.count("&") >= MOST_OF_ONE_PARAMETER
        or query.count("/") > 2
    )


def has_session(url: str, _latest_year: int = 0) -> bool:
    return ("=" in url and _SESSION.search(url) is not None) or ("(" in url and _SESSION_FOLDER.search(url) is not None)


def without_session(url: str) -> str:
    """Returns the URL without its session id, so that every client gets the same URL."""
    url = _SESSION_PIECE.sub("", _SESSION_FOLDER.sub("", url))
    head, _, query = url.partition("?")
    if head.count("/") < 3:
        head += "/"
    kept = [piece for piece in query.split("&") if piece and not _SESSION_PARAMETER.fullmatch(piece)]
    return f"{head}?{'&'.join(kept)}" if kept else head


def calendar_year(url: str) -> int | None:
    """Returns the year of the month or day that a calendar page shows; None for other pages. An article URL has a name
    after its date, and no calendar segment before it."""
    if not _CALENDAR_WORD.search(url):
        return None
    if match := _YEAR_AND_MONTH.search(url):
        return int(match[1] or match[2])
    if (match := _YEAR_IN_QUERY.search(url)) and _MONTH_IN_QUERY.search(url):
        return int(match[1])
    return None


def _is_too_long(url: str, _latest_year: int) -> bool:
    return len(url) > LONGEST_URL


def _is_too_deep(url: str, _latest_year: int) -> bool:
    return url.partition("?")[0].count("/") > MOST_SEGMENTS + 2


def _repeats(url: str, _latest_year: int) -> bool:
    """Whether a segment occurs more than three times: `/a/b/a/b/a/b/a`. Numbers may repeat (`/2024/01/01/`)."""
    return _has_repeats(url.partition("?")[0].split("/")[3:])


def _has_repeats(segments: list[str]) -> bool:
    if len(segments) - len(set(segments)) < MOST_REPEATS:
        return False
    counts = Counter(segment for segment in segments if segment and not segment.isdigit())
    return bool(counts) and max(counts.values()) > MOST_REPEATS


def _is_expanding_query(url: str, _latest_year: int) -> bool:
    """Whether a query has too many parameters, repeats one of them, nests URLs, or contains a path that repeats."""
    query = url.partition("?")[2]
    if not query:
        return False
    pieces = query.split("&")
    if len(pieces) > MOST_PARAMETERS or _NESTED.search(query):
        return True
    names = [piece.partition("=")[0] for piece in pieces]
    is_repeated = len(names) - len(set(names)) >= MOST_OF_ONE_PARAMETER
    if is_repeated and max(Counter(names).values()) > MOST_OF_ONE_PARAMETER:
        return True
    return any(_has_repeats(re.split("/|%2F", piece)) for piece in pieces if piece.count("/") + piece.count("%2F") > 2)


def _is_far_calendar(url: str, latest_year: int) -> bool:
    year = calendar_year(url)
    return year is not None and not FIRST_YEAR <= year <= latest_year


RULES: Mapping[str, Callable[[str, int], bool]] = MappingProxyType(
    {
        SESSION_ID: has_session,
        "too_long": _is_too_long,
        "too_deep_path": _is_too_deep,
        "repeating_path": _repeats,
        "growing_query": _is_expanding_query,
        "calendar": _is_far_calendar,
    }
)
"""Rule name → check, in order of evaluation."""
