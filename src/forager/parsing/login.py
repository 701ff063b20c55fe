"""Detects login walls: a login form in place of the requested content. Pure; decides nothing about the domain.

A login form alone proves nothing: articles have one in their header, and every login page is linked somewhere. The
criteria are that it replaced something else, and that there is little beside it.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from forager.parsing import login_words as words_of
from forager.urls.domain import registrable

if TYPE_CHECKING:
    from forager.parsing.tree_types import Tree

FEW_WORDS, FEW_LINKS = 40, 15
"""Up to these limits, a page with a login form at the requested URL consists of that form only."""
SOME_WORDS, SOME_LINKS = 60, 15
"""The limits after a redirect. Only slightly higher: most sites redirect every client, to https."""
MORE_WORDS, MORE_LINKS = 150, 100
"""The limits if the title asks to log in."""
MANY_WORDS, MANY_LINKS = 180, 200
"""From these limits on, even the content at a login URL is worth parsing."""

UNSEEN = frozenset({"noscript", "template", "script", "svg"})
UNSEEN_CLASSES = frozenset({"hidden", "d-none", "modal", "popup", "offcanvas", "dropdown-menu"})
"""Classes that common style sheets show only after a click."""
UNSEEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
TITLE_PARTS = re.compile(r"\s+[-–—]+\s+|\s*[|｜·•:»«›‹]\s*")
WITHOUT_SPACES = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
MOST_FIELDS = 20
DEEPEST = 200
"""No real form has more fields or is nested deeper; a page built to stall the parser has both."""
LONGEST_TITLE = 200
LONGEST_URL = 8192


def is_login_required(
    *,
    url: str,
    was_redirected: bool,
    status_code: int,
    has_password_form: bool,
    words: int,
    links: int,
    title: str | None,
) -> bool:
    """Whether the page fetched from `url` is a login form, or asks for a login, in place of content.

    `words` is the word count of the main text, by `count_words`; counting the first 180 is enough.
    """
    if status_code in {401, 407}:
        return True
    is_at_login = is_login_url(url)
    if not (has_password_form or is_at_login) or words >= MANY_WORDS or links >= MANY_LINKS:
        return False
    if _says_another(title):
        return False
    if is_at_login:
        return _is_login_redirect(url, was_redirected) and (has_password_form or _says_login(title))
    if _is_private(_split(url)):
        return False
    most_words, most_links = (SOME_WORDS, SOME_LINKS) if was_redirected else (FEW_WORDS, FEW_LINKS)
    if _says_login(title):
        most_words, most_links = MORE_WORDS, MORE_LINKS
    return words <= most_words and links <= most_links


def redirects_to_login(from_url: str, to_url: str) -> bool:
    """Whether a redirect leads to a login, from a page that may otherwise be public."""
    if is_login_url(from_url) or not is_login_url(to_url):
        return False
    target = _split(to_url)
    if target is None or _is_private(_split(from_url)):
        return False
    return words_of.SILENT.isdisjoint((key.lower(), value.lower()) for key, value in _parameters(target))


def is_login_url(url: str) -> bool:
    """Whether a URL is a login URL. A word counts only as a whole segment: `/login`, not `/login-tips`."""
    parts = _split(url)
    if parts is None:
        return False
    segments = list(_segments(parts.path))
    if _names(parts, words_of.NOT_LOGIN):
        return False
    if _is_login_host(parts) or words_of.LOGIN_PATH.search("/" + "/".join(segments)):
        return True
    if "special:userlogin" in segments:  # on wikis all pages are below a segment that otherwise marks articles
        return True
    if segments and segments[0] in words_of.GATE:
        return True
    return _names_login(segments) or any(_is_login_parameter(*parameter) for parameter in _parameters(parts))


def is_logout_url(url: str) -> bool:
    """Whether a URL ends a session, by its words: `/logout`, `/user/sign_out`, `wp-login.php?action=logout`."""
    parts = _split(url)
    if parts is None:
        return False
    for segment in _segments(parts.path):
        name = segment.partition(";")[0]
        if name in words_of.ABOUT and "special:userlogout" not in parts.path.lower():
            return False
        if _ends_session(name.removeprefix("special:")):
            return True
    return any(
        _ends_session(_as_segment(key)) or (key.lower() in words_of.LOGOUT_KEYS and _ends_session(_as_segment(value)))
        for key, value in _all_parameters(parts)
    )


def _ends_session(name: str) -> bool:
    if name in words_of.LOGOUT:
        return True
    words = name.split("-")
    return words[-1] in words_of.LOGOUT and len(words) <= 5 and words_of.ADVICE.isdisjoint(words)


def _as_segment(text: str) -> str:
    return text.lower().rpartition("/")[2].removeprefix("special:").replace("_", "-").replace(" ", "-")


def is_same_page(url: str, login_url: str) -> bool:
    """Returns whether a URL is the login page, whatever page it is to return to. Only a query that selects the page,
    as on sites of one script, has to be the same."""
    place, _, query = login_url.partition("?")
    other, _, their = url.partition("?")
    if _without_scheme(other) != _without_scheme(place):
        return False
    return not query or set(query.split("&")) <= set(their.split("&"))


def _without_scheme(url: str) -> str:
    return url.partition("://")[2].removeprefix("www.").rstrip("/")


def has_password_form(tree: "Tree") -> bool:
    """Whether the page shows a form that asks for an existing password: two password fields in one form set a new
    one."""
    inputs = tree.tags("input")
    kinds = tree.column(inputs, "type")
    asked = [number for number, kind in zip(inputs, kinds, strict=True) if kind and kind.strip().lower() == "password"]
    if not asked:
        return False
    fields: Counter[int | None] = Counter()
    for number in asked[:MOST_FIELDS]:
        above = [number, *_iter_ancestors(tree, number)]
        if not any(_is_hidden(tree, each) for each in above):
            is_new = (tree.get(number, "autocomplete") or "").strip().lower() == "new-password"
            fields[_find_form(tree, above)] += 2 if is_new else 1
    return 1 in fields.values() and bool(tree.tags("form"))


def count_words(text: str) -> int:
    """Counts words in any language: in scripts without spaces, two letters count as one word."""
    return len(text.split()) + len(WITHOUT_SPACES.findall(text)) // 2


def _is_login_redirect(url: str, was_redirected: bool) -> bool:
    """Whether a redirect led to a login wall. A linked login page is a normal page; so is the one after
    `/wishlist/add`, which says nothing about the rest of the site."""
    parts = _split(url)
    return was_redirected and parts is not None and not _is_private(_wanted(parts))


def _wanted(parts: SplitResult) -> SplitResult | None:
    """Returns the page to which a login page will return."""
    for key, value in _parameters(parts):
        if key.lower().replace("_", "-") in words_of.RETURN_KEYS:
            return _split(value)
    return None


def _says_login(title: str | None) -> bool:
    return any(words_of.WALL_TITLE.fullmatch(part) for part in _title_parts(title))


def _says_another(title: str | None) -> bool:
    """Whether the title names another purpose: registration, a forgotten password, a protected article."""
    return not _says_login(title) and any(words_of.NOT_LOGIN_TITLE.match(part) for part in _title_parts(title))


def _title_parts(title: str | None) -> list[str]:
    return TITLE_PARTS.split((title or "")[:LONGEST_TITLE].strip())


def _split(url: str) -> SplitResult | None:
    try:
        return urlsplit(url) if len(url) <= LONGEST_URL else None
    except ValueError:
        return None


def _segments(path: str) -> Iterator[str]:
    """Yields path segments in lower case, hyphens for underscores, without a page's extension:
    `/Account/Sign_In.aspx`."""
    for segment in unquote(path).lower().split("/"):
        stem, dot, extension = segment.rpartition(".")
        name = stem if dot and extension in words_of.PAGE_EXTENSIONS else segment
        if name:
            yield name.replace("_", "-").replace(" ", "-")


def _is_login_host(parts: SplitResult) -> bool:
    host = (parts.hostname or "").rstrip(".")
    return host.partition(".")[0] in words_of.LOGIN_LABELS and "." in host and registrable(host) != host


def _names_login(segments: list[str]) -> bool:
    for segment in segments:
        if segment in words_of.ABOUT:
            return False
        if segment in words_of.LOGIN:
            return True
    return False


def _is_login_parameter(key: str, value: str) -> bool:
    """Whether a parameter selects a login page: `ucp.php?mode=login`, `index.php?route=account/login`,
    `index.php?title=Special:UserLogin`."""
    last = value.lower().rpartition("/")[2].replace("_", "-")
    if key.lower() == "title":
        return last == "special:userlogin"
    return key.lower() in words_of.LOGIN_KEYS and last in words_of.LOGIN


def _parameters(parts: SplitResult) -> list[tuple[str, str]]:
    try:
        return parse_qsl(parts.query, max_num_fields=100)
    except ValueError:
        return []


def _all_parameters(parts: SplitResult) -> list[tuple[str, str]]:
    """Returns all parameters, also those without a value: `/?logout`."""
    try:
        return parse_qsl(parts.query, keep_blank_values=True, max_num_fields=100)
    except ValueError:
        return []


def _is_private(parts: SplitResult | None) -> bool:
    return parts is not None and _names(parts, words_of.PRIVATE)


def _names(parts: SplitResult, known: frozenset[str]) -> bool:
    """Whether a path segment, or a parameter that replaces one, is one of these words."""
    if any(segment in known for segment in _segments(parts.path)):
        return True
    return any(key.lower() in words_of.LOGIN_KEYS and value.lower() in known for key, value in _parameters(parts))


def _iter_ancestors(tree: "Tree", number: int) -> Iterator[int]:
    for _ in range(DEEPEST):
        number = tree.parent(number)
        if number < 0:
            return
        yield number


def _is_hidden(tree: "Tree", number: int) -> bool:
    attributes, tag = tree.attributes(number), tree.tag(number)
    if tag in UNSEEN or "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    if tag == "dialog" and "open" not in attributes:
        return True
    if not UNSEEN_CLASSES.isdisjoint(attributes.get("class", "").split()):
        return True
    return bool(UNSEEN_STYLE.search(attributes.get("style", "")))


def _find_form(tree: "Tree", numbers: list[int]) -> int | None:
    """Returns the form around the fields; None if the parser placed it beside them, as in the tables of old pages."""
    return next((number for number in numbers if tree.tag(number) == "form"), None)
