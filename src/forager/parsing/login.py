"""Is this page a login wall: a login form in place of what was asked for? Pure; decides nothing about the domain.

A login form alone proves nothing: articles carry one in their header, and somebody links to every login page.
What counts is that it came instead of something else, and that there is little beside it.
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
"""Up to here a page with a login form, found where it was asked for, is nothing but that form."""
SOME_WORDS, SOME_LINKS = 60, 15
"""The same after a redirect. Little more: most sites redirect everybody, to https."""
MORE_WORDS, MORE_LINKS = 150, 100
"""The same if its title asks to log in."""
MANY_WORDS, MANY_LINKS = 180, 200
"""From here on even what a login URL shows is worth reading."""

UNSEEN = frozenset({"noscript", "template", "script", "svg"})
UNSEEN_CLASSES = frozenset({"hidden", "d-none", "modal", "popup", "offcanvas", "dropdown-menu"})
"""What the style sheets most sites use show only after a click."""
UNSEEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
TITLE_PARTS = re.compile(r"\s+[-–—]+\s+|\s*[|｜·•:»«›‹]\s*")
WITHOUT_SPACES = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
MOST_FIELDS = 20
DEEPEST = 200
"""No form needs more fields, or lies deeper; a page made to stall us has both."""
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
    """Whether the page that came from `url` is a login form, or asks for one, in place of content.

    `words` are those of the main text, by `count_words`; the first 180 are enough to know.
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
    """Whether a redirect sends us to log in, from a page that others may be free to see."""
    if is_login_url(from_url) or not is_login_url(to_url):
        return False
    target = _split(to_url)
    if target is None or _is_private(_split(from_url)):
        return False
    return words_of.SILENT.isdisjoint((key.lower(), value.lower()) for key, value in _parameters(target))


def is_login_url(url: str) -> bool:
    """Whether a URL is made for logging in. A word counts as a whole segment only: `/login`, not `/login-tips`."""
    parts = _split(url)
    if parts is None:
        return False
    segments = list(_segments(parts.path))
    if _names(parts, words_of.NOT_LOGIN):
        return False
    if _is_login_host(parts) or words_of.LOGIN_PATH.search("/" + "/".join(segments)):
        return True
    if "special:userlogin" in segments:  # on wikis all pages are below a word that is said of articles
        return True
    if segments and segments[0] in words_of.GATE:
        return True
    return _names_login(segments) or any(_is_login_parameter(*parameter) for parameter in _parameters(parts))


def has_password_form(tree: "Tree") -> bool:
    """Whether the page shows a form that wants a password one already has: two fields in one form choose a new one."""
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
    """As a reader of any language would: where nothing is put between words, two letters are one."""
    return len(text.split()) + len(WITHOUT_SPACES.findall(text)) // 2


def _is_login_redirect(url: str, was_redirected: bool) -> bool:
    """A login page that was linked is a page; so is the one behind `/wishlist/add`, which says nothing of the rest."""
    parts = _split(url)
    return was_redirected and parts is not None and not _is_private(_wanted(parts))


def _wanted(parts: SplitResult) -> SplitResult | None:
    """The page a login page will lead back to."""
    for key, value in _parameters(parts):
        if key.lower().replace("_", "-") in words_of.RETURN_KEYS:
            return _split(value)
    return None


def _says_login(title: str | None) -> bool:
    return any(words_of.WALL_TITLE.fullmatch(part) for part in _title_parts(title))


def _says_another(title: str | None) -> bool:
    """Registering, a forgotten password, a protected article."""
    return not _says_login(title) and any(words_of.NOT_LOGIN_TITLE.match(part) for part in _title_parts(title))


def _title_parts(title: str | None) -> list[str]:
    return TITLE_PARTS.split((title or "")[:LONGEST_TITLE].strip())


def _split(url: str) -> SplitResult | None:
    try:
        return urlsplit(url) if len(url) <= LONGEST_URL else None
    except ValueError:
        return None


def _segments(path: str) -> Iterator[str]:
    """In lower case, hyphens for underscores, without the extension of a page: `/Account/Sign_In.aspx`."""
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
    """`ucp.php?mode=login`, `index.php?route=account/login`, `index.php?title=Special:UserLogin`."""
    last = value.lower().rpartition("/")[2].replace("_", "-")
    if key.lower() == "title":
        return last == "special:userlogin"
    return key.lower() in words_of.LOGIN_KEYS and last in words_of.LOGIN


def _parameters(parts: SplitResult) -> list[tuple[str, str]]:
    try:
        return parse_qsl(parts.query, max_num_fields=100)
    except ValueError:
        return []


def _is_private(parts: SplitResult | None) -> bool:
    return parts is not None and _names(parts, words_of.PRIVATE)


def _names(parts: SplitResult, known: frozenset[str]) -> bool:
    """Whether a segment of the path, or a parameter that stands for one, is one of these words."""
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
    """None for a form the parser put beside its fields, as in the tables of old pages."""
    return next((number for number in numbers if tree.tag(number) == "form"), None)
