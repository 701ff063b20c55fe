"""Links of a page → normalised URLs. `resolve_link` is the reference; `resolve_links` gives exactly the same, faster:
a plain link (most are) is put together from the base's pieces, without a query (most have none) all of a page at once;
everything unusual takes the way through ada.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from ada_url import join_url, normalize_url

from forager.errors import BadUrlError
from forager.urls import compiled
from forager.urls.compiled import JoinSimple
from forager.urls.domain import LONGEST_ORIGIN, is_canonical_origin
from forager.urls.normalize import (
    HREF,
    WHITESPACE,
    apply_policy,
    check_host,
    check_printable,
    fix_escapes,
    normalize,
    normalize_query,
    show,
)
from forager.urls.policy import DEFAULT_POLICY, UrlPolicy

# Characters no step of normalising touches: no escapes, no colon (a scheme?), no quote or backslash.
PLAIN = re.compile(r"([A-Za-z0-9_~!$&()*+,;=@./-]*)(?:\?([A-Za-z0-9_~!$&()*+,;=@./:?-]*))?(?:#[!-~]*)?")
ESCAPED = r"%(?:[0189A-F][0-9A-F]|2[0-9ABCF]|3[A-F]|40|5[B-E]|60|7[BCDF])"
"""An escape that is needed, and written as it is normalised."""
SIMPLE = re.compile(
    rf"(/(?:[A-Za-z0-9_~!$&()*+,;=@./:-]|{ESCAPED})*|(?:[A-Za-z0-9_~!$&()*+,;=@./-]|{ESCAPED})+)(?:#[!->@-~]*)?"
)
"""A path that is normalised already, and no query. Behind a slash a colon ends no scheme."""
SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")


class Base(NamedTuple):
    """What links of one page are relative to, taken apart once per page."""

    href: str | None
    """As ada writes it; None when it is no web URL, then only absolute links lead anywhere."""
    origin: str
    """Empty when the base allows no fast way."""
    directory: str
    page: str
    room: int
    """The longest link that surely stays within the policy's length."""


def resolve_links(base: str, hrefs: Sequence[str], policy: UrlPolicy = DEFAULT_POLICY) -> list[str | None]:
    """Each link normalised, or None where it is no URL we visit."""
    ground = _remember(base, policy) if len(base) <= LONGEST_ORIGIN else _parse_base(base, policy)
    if not ground.origin:
        return [_resolve_or_none(ground.href, href, policy) for href in hrefs]
    if policy.strip_trailing_slash:
        return [_join_plain(ground, href, policy) or _resolve_or_none(ground.href, href, policy) for href in hrefs]
    joined = join_simple(ground.origin, ground.directory, ground.room, hrefs, is_canonical_origin)
    return [
        url or _join_plain(ground, href, policy) or _resolve_or_none(ground.href, href, policy)
        for url, href in zip(joined, hrefs, strict=True)
    ]


def resolve_link(base: str, href: str, policy: UrlPolicy = DEFAULT_POLICY) -> str:
    """One link normalised; raises BadUrlError with the reason."""
    return _resolve(_web_href(base), href, policy)


def get_drop_reason(href: str) -> Literal["scheme", "bad_url"]:
    """For a link that resolved to None: does it lead elsewhere (`mailto:`), or nowhere?"""
    match = SCHEME.match(href.lstrip(WHITESPACE))
    return "scheme" if match and match[1].lower() not in {"http", "https"} else "bad_url"


def join_simple_in_python(
    origin: str, directory: str, room: int, hrefs: Sequence[str], is_canonical: Callable[[str], bool]
) -> list[str | None]:
    """Each link normalised that is simple; None of others. `is_canonical` says of another origin whether it is
    normalised."""
    return [_join_simple(origin, directory, room, href, is_canonical) for href in hrefs]


def _join_simple(own: str, directory: str, room: int, href: str, is_canonical: Callable[[str], bool]) -> str | None:
    if not href.isascii():
        return None
    if href[:2] == "//":
        href = own.partition("//")[0] + href
    origin, rest = own, href
    if href[:4] == "http":
        end = href.find("/", 8)
        if not 8 < end < LONGEST_ORIGIN:
            return None
        origin, rest = href[:end], href[end:]
    match = SIMPLE.fullmatch(rest)
    if match is None or "/." in rest or rest[0] == "." or len(href) > room:
        return None
    if origin != own and not is_canonical(origin):
        return None
    return origin + match[1] if rest[0] == "/" else origin + directory + match[1]


join_simple: JoinSimple = compiled.join_simple or join_simple_in_python


def _join_plain(base: Base, href: str, policy: UrlPolicy) -> str | None:
    """The fast way: None means the link is not plain enough, not that it is bad."""
    origin, rest = base.origin, href
    if href[:4] == "http":
        end = href.find("/", 8)
        if not 8 < end < LONGEST_ORIGIN:
            return None
        origin, rest = href[:end], href[end:]
        if origin != base.origin and not is_canonical_origin(origin):
            return None
    match = PLAIN.fullmatch(rest)
    if match is None or "/." in rest or len(href) > base.room:
        return None
    path, query = match.groups()
    if not path:
        if query is None:
            return None
        path = base.page
    elif path[0] != "/":
        if path[0] == ".":
            return None
        path = base.directory + path
    elif path[:2] == "//":
        return None
    if policy.strip_trailing_slash:
        path = path.rstrip("/") or "/"
    if query and (query := normalize_query(query, policy)):
        return f"{origin}{path}?{query}"
    return origin + path


def _resolve_or_none(base: str | None, href: str, policy: UrlPolicy) -> str | None:
    try:
        return _resolve(base, href, policy)
    except BadUrlError:
        return None


def _resolve(base: str | None, href: str, policy: UrlPolicy) -> str:
    if base is None:
        return normalize(href, policy)
    check_printable(href, policy)
    try:
        joined: str = join_url(base, href)
    except ValueError:
        raise BadUrlError(f"{show(href)} is no link that leads anywhere.") from None
    return apply_policy(joined, policy)


def _web_href(base: str) -> str | None:
    """The base as ada writes it. A plain one is written so already: asking ada takes half of what taking apart does."""
    end = base.find("/", 8)
    if 8 < end < LONGEST_ORIGIN and is_canonical_origin(base[:end]):
        match = PLAIN.fullmatch(base, end)
        if match is not None and "#" not in base and "/." not in base:
            return base
    try:
        href: str = normalize_url(base)
    except ValueError:
        return None
    return href if HREF.match(href) else None


def _parse_base(base: str, policy: UrlPolicy) -> Base:
    href = _web_href(base)
    match = HREF.match(href) if href else None
    if match is None:
        return Base(None, "", "", "", 0)
    scheme, host, port, path, _ = match.groups()
    try:
        origin = f"{scheme}://{check_host(host)}{port or ''}"
    except BadUrlError:
        return Base(href, "", "", "", 0)
    directory, page = fix_escapes(path[: path.rindex("/") + 1]), fix_escapes(path)
    room = policy.max_bytes - len(origin) - max(len(directory), len(page))
    return Base(href, origin, directory, page, room)


_remember = lru_cache(maxsize=4096)(_parse_base)
"""For roots of sites, which are asked for again and again: taking apart costs 10 µs."""
