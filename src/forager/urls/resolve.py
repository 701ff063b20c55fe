"""Resolves links of a page to normalised URLs. `resolve_link` is the reference; `resolve_links` returns exactly the
same, faster: a plain link (most are) is joined from the parts of the base, those without a query (most) for the whole
page at once; all other links are parsed by ada."""

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
    C0_AND_SPACE,
    HREF,
    apply_policy,
    check_host,
    check_printable,
    fix_escapes,
    normalize,
    normalize_query,
    show,
)
from forager.urls.policy import DEFAULT_POLICY, UrlPolicy

# Characters that normalising never changes: no escapes, no colon (a scheme?), no quote or backslash.
PLAIN = re.compile(r"([A-Za-z0-9_~!$&()*+,;=@./-]*)(?:\?([A-Za-z0-9_~!$&()*+,;=@./:?-]*))?(?:#[!-~]*)?")
ESCAPED = r"%(?:[0189A-F][0-9A-F]|2[02-7BCF]|3[A-F]|40|5[B-E]|60|7[BCDF])"
"""A necessary escape in normalised form."""
SIMPLE = re.compile(
    rf"(/(?:[A-Za-z0-9_~!$&()*+,;=@./:-]|{ESCAPED})*|(?:[A-Za-z0-9_~!$&()*+,;=@./-]|{ESCAPED})+)(?:#[!->@-~]*)?"
)
"""A path in normalised form, without a query. After a slash, a colon does not end a scheme."""
SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")


class Base(NamedTuple):
    """The base of a page's links, split once per page."""

    href: str | None
    """As serialised by ada; None when it is not a web URL, in which case only absolute links resolve."""
    origin: str
    """Empty when the fast path does not apply to the base."""
    directory: str
    page: str
    room: int
    """The longest link that certainly stays within the policy's length limit."""


def resolve_links(base: str, hrefs: Sequence[str], policy: UrlPolicy = DEFAULT_POLICY) -> list[str | None]:
    """Returns each link normalised, or None where it is not a URL Forager fetches."""
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
    """Returns one link normalised; raises BadUrlError with the reason."""
    return _resolve(_web_href(base), href, policy)


def get_drop_reason(href: str) -> Literal["scheme", "bad_url"]:
    """Returns why a link resolved to None: another scheme (`mailto:`), or an invalid URL."""
    match = SCHEME.match(href.lstrip(C0_AND_SPACE))
    return "scheme" if match and match[1].lower() not in {"http", "https"} else "bad_url"


def join_simple_in_python(
    origin: str, directory: str, room: int, hrefs: Sequence[str], is_canonical: Callable[[str], bool]
) -> list[str | None]:
    """Returns each simple link normalised; None for the others. `is_canonical` returns whether another origin is in
    normalised form."""
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
    """Joins a link on the fast path. None means that the link is not plain enough, not that it is invalid."""
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
    if query and (query := normalize_query(query, policy, is_plain=True)):
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
    """Returns the base as serialised by ada. A plain one already has that form: calling ada takes half as long as the
    split."""
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
"""Cached for site roots, which are requested repeatedly: splitting costs 10 µs."""
