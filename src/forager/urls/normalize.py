"""Normalises URLs: determines the one string that identifies a page, and its key.

ada-url (WHATWG) parses the string; the policy defines which differences do not matter. Never guesses: a URL that cannot
be fetched over http or https is rejected with an error message.
"""

import re
from hashlib import sha256
from string import hexdigits

from ada_url import URL, normalize_url

from forager.errors import BadUrlError
from forager.urls.policy import DEFAULT_POLICY, UrlPolicy

KEY_BYTES = 16

# ada's serialisation is regular: the authority ends at the first slash, "@" in userinfo is escaped.
HREF = re.compile(r"(https?)://(?:[^/]*@)?(\[[0-9a-f:.]+\]|[^/:]+)(:\d+)?(/[^?#]*)(?:\?([^#]*))?")
DNS_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
SURROGATE = re.compile("[\ud800-\udfff]")
C0_AND_SPACE = "".join(map(chr, range(0x21)))
"""What the standard strips from both ends of a URL."""
USERINFO = re.compile(r"(?<=[/\\])[^/\\?#]*@")
STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!()*")
"""Characters that mean the same escaped and plain: those of RFC 3986, and the marks of RFC 2396, which scripts leave
alone and PHP escapes (`Foo_(film)`, `Foo_%28film%29`)."""
ODD = re.compile(r"[%'\[\]{}|^`\\]")
"""Escapes, and characters that the standard leaves alone although no path or query of RFC 3986 has them; a quote, too,
which it escapes in the query only."""
UNESCAPED = re.compile(r"['\[\]{}|^`\\]")


def _fix_escape(high: str, low: str) -> str:
    char = chr(int(high + low, 16))
    return char if char in UNRESERVED else f"%{high}{low}".upper()


SPELLINGS = {f"%{high}{low}": _fix_escape(high, low) for high in hexdigits for low in hexdigits}
"""Every percent-escape in any case → its normalised form."""


def normalize(url: str, policy: UrlPolicy = DEFAULT_POLICY) -> str:
    """Returns the normalised form of `url`; raises BadUrlError when it is not a URL Forager can fetch."""
    check_printable(url, policy)
    try:
        href: str = normalize_url(url)
    except ValueError:
        raise BadUrlError(_explain_invalid(url)) from None
    return apply_policy(href, policy)


def url_key(url: str) -> bytes:
    """Returns the key that identifies a normalised URL in the database."""
    return sha256(url.encode()).digest()[:KEY_BYTES]


def apply_policy(href: str, policy: UrlPolicy) -> str:
    """Applies the policy to a URL as serialised by ada."""
    match = HREF.match(href)
    if match is None:
        raise BadUrlError(f"{show(href)} is not on the web: only http and https can be crawled.")
    scheme, host, port, path, query = match.groups()
    if port == ":0":
        raise BadUrlError(f"{show(href)} has port 0, at which nobody can be reached.")
    path = fix_escapes(path)
    if policy.strip_trailing_slash:
        path = path.rstrip("/") or "/"
    result = f"{scheme}://{check_host(host)}{port or ''}{path}"
    if query and (query := normalize_query(query, policy)):
        result = f"{result}?{query}"
    if len(result) > policy.max_bytes:
        raise BadUrlError(f"{show(href)} is longer than {policy.max_bytes} bytes.")
    return result


def normalize_query(query: str, policy: UrlPolicy, *, is_plain: bool = False) -> str:
    """Returns the query without tracking and empty parameters, sorted by name, then value, so that permutations are one
    page. `is_plain`: it has no escapes, and needs none."""
    is_odd = not is_plain and ODD.search(query) is not None
    if "&" not in query:
        piece = fix_escapes(query) if is_odd else query
        return "" if policy.tracks(piece.partition("=")[0]) else piece
    pieces = [(fix_escapes(piece) if is_odd else piece).partition("=") for piece in query.split("&") if piece]
    kept = [piece for piece in pieces if not policy.tracks(piece[0])]
    if policy.sort_query:
        kept.sort()
    return "&".join(["".join(piece) for piece in kept])


def fix_escapes(text: str) -> str:
    """Decodes unnecessary escapes, writes the others in capitals, and escapes characters that need it. Nothing is
    decoded beside a broken escape: that could complete the broken one (`%%34%31` → `%41`) and change the meaning next
    time."""
    if not ODD.search(text):
        return text
    if not STRAY_PERCENT.search(text):
        text = ESCAPE.sub(lambda match: SPELLINGS[match.group()], text)
    return UNESCAPED.sub(lambda match: f"%{ord(match.group()):02X}", text)


def has_credentials(url: str) -> bool:
    """Whether a URL as typed carries a user name or a password, which normalising removes."""
    try:
        parts = URL(url)
    except ValueError:
        return False
    return parts.protocol in {"http:", "https:"} and bool(parts.username or parts.password)


def check_host(host: str) -> str:
    """Returns the host without its root dot, if it is an IP address or a name that DNS can resolve."""
    name = host.removesuffix(".")
    if not name.startswith("[") and not DNS_NAME.fullmatch(name):
        raise BadUrlError(f"{show(host)} is no host name: labels have 1 to 63 letters, digits or hyphens each.")
    return name


def check_printable(url: str, policy: UrlPolicy) -> None:
    if len(url) > policy.max_bytes:
        raise BadUrlError(f"{show(url)} is longer than {policy.max_bytes} bytes.")
    if not url.isprintable() and SURROGATE.search(url):
        raise BadUrlError(f"{show(url)} contains broken text.")


def show(url: str) -> str:
    """Returns a URL for use in a message: quoted, short, on one line, and without user name and password."""
    bare = USERINFO.sub("", url)
    return repr(bare if len(bare) <= 120 else bare[:117] + "...")


def _explain_invalid(url: str) -> str:
    guess = f"https://{url.strip(C0_AND_SPACE)}"
    if ":" not in url and "." in url and URL.can_parse(guess):
        return f"{show(url)} has no scheme; write {show(guess)}."
    return f"{show(url)} is no URL; write it like https://site.example/page."
