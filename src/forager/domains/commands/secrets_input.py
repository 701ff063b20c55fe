"""Reads secrets for crawl settings from files, standard input or a prompt: on a command line they would be visible to
every user of the machine and stay in the history of the shell.
"""

import getpass
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from forager.errors import UsageError
from forager.urls.domain import registrable

PROMPT = "-"
MOST_BYTES = 1024 * 1024
NETSCAPE_FIELDS = 7
HTTP_ONLY = "#HttpOnly_"


def read_secret(source: str, what: str) -> str:
    """Returns the first line of a file; `-` asks for it on a terminal, or reads standard input if there is none."""
    if source == PROMPT:
        if sys.stdin.isatty():
            return getpass.getpass(f"{what}: ")
        text = sys.stdin.readline()
    else:
        text = read_text(source, what)
    line = text.splitlines()[0].strip("\r\n") if text else ""
    if not line:
        raise UsageError(f"{source} is empty; its first line is the {what}.")
    return line


def read_text(source: str, what: str) -> str:
    """Returns the text of a file."""
    try:
        data = Path(source).expanduser().read_bytes()
    except OSError as error:
        raise UsageError(f"The {what} cannot be read from {source}: {error.strerror or error}.") from None
    if len(data) > MOST_BYTES:
        raise UsageError(f"{source} is larger than {MOST_BYTES // 1024} KiB; it is no {what}.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{source} is not a text in UTF-8.") from None


def read_header_file(source: str) -> dict[str, str]:
    """Reads a file with a header `Name: value` in each line; empty lines and lines with `#` are left out."""
    found: dict[str, str] = {}
    for number, line in enumerate(read_text(source, "file of headers").splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, colon, value = line.partition(":")
        if not colon or not name.strip():
            raise UsageError(f"Line {number} of {source} is no header; write `Name: value`.")
        found[name.strip()] = value.strip()
    if not found:
        raise UsageError(f"{source} has no headers.")
    return found


def read_cookie_file(source: str, domain: str, *, now_s: float) -> dict[str, str]:
    """Reads the cookies of a domain from a file in Netscape's format, as browsers and curl export it (`cookies.txt`).
    Expired cookies and those of other sites are left out."""
    host = domain.partition(":")[0]
    found: dict[str, str] = {}
    others = expired = 0
    for number, line in enumerate(read_text(source, "file of cookies").splitlines(), 1):
        text = line.removeprefix(HTTP_ONLY)
        if not text.strip() or (line.startswith("#") and not line.startswith(HTTP_ONLY)):
            continue
        parts = text.split("\t")
        if len(parts) != NETSCAPE_FIELDS:
            raise UsageError(
                f"Line {number} of {source} is no cookie: a cookies.txt has {NETSCAPE_FIELDS} fields with tabs."
            )
        theirs, _, _, _, expires, name, value = parts
        if not _is_for(theirs.lstrip(".").lower(), host):
            others += 1
        elif expires.strip().isdigit() and 0 < int(expires) <= now_s:
            expired += 1
        else:
            found[name] = value.rstrip("\r\n")
    if not found:
        raise UsageError(f"{source} has no cookie for {domain}: {others} of other sites, {expired} expired.")
    return found


def read_pairs(words: Iterable[str], what: str) -> dict[str, str]:
    """Reads `NAME=VALUE` of a repeatable flag. A value `@FILE` is read from a file, `-` from a prompt."""
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"{word.partition('=')[0]!r} is no {what}; write NAME=VALUE.")
        name = name.strip()
        if value == PROMPT:
            value = read_secret(PROMPT, name)
        elif value.startswith("@"):
            value = read_secret(value[1:], name)
        found[name] = value
    return found


def collect_secrets(
    domain: str,
    given: Mapping[str, Any],
    *,
    header: Iterable[str] = (),
    header_file: str | None = None,
    cookie: Iterable[str] = (),
    cookie_file: str | None = None,
    password_file: str | None = None,
    token_file: str | None = None,
    login_field: Iterable[str] = (),
    now_s: float,
) -> dict[str, Any]:
    """Returns the settings that these flags give, over those that were given by name."""
    found: dict[str, Any] = {}
    headers = dict(read_header_file(header_file)) if header_file else {}
    for line in header:
        name, colon, value = line.partition(":")
        if not colon:
            raise UsageError(f"{name!r} is no header; write 'Name: value'.")
        headers[name.strip()] = value.strip()
    cookies: dict[str, str] = {}
    for name, value in (given.get("cookies") or {}).items():
        if value or not Path(name).is_file():
            cookies[name] = value
        else:  # `--cookies cookies.txt`
            cookies |= read_cookie_file(name, domain, now_s=now_s)
    if cookie_file:
        cookies |= read_cookie_file(cookie_file, domain, now_s=now_s)
    cookies |= read_pairs(cookie, "cookie")
    fields = read_pairs(login_field, "field of the login form")
    for name, values in (("headers", headers), ("login_fields", fields)):
        if values:
            found[name] = {**(given.get(name) or {}), **values}
    if cookies:
        found["cookies"] = cookies
    if password_file:
        found["password"] = read_secret(password_file, "password")
    if token_file:
        found["token"] = read_secret(token_file, "token")
    return found


def _is_for(theirs: str, host: str) -> bool:
    """Whether a cookie of this domain belongs to the site: its host, with and without `www.`, or a parent of it that is
    no public suffix."""
    if theirs.removeprefix("www.") == host.removeprefix("www."):
        return True
    return host.endswith(f".{theirs}") and registrable(theirs) == registrable(host)
