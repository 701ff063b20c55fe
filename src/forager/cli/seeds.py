"""Seeds from arguments and files, all checked before anything starts. Pure but for reading the file.

A bare domain is meant as https. A seed file has one URL per line; blank lines and comments (`#`) are skipped.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from forager.errors import BadUrlError, ConfigurationError, UsageError

SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:(?!\d+(?:[/?#]|$))", re.IGNORECASE)
"""`mailto:` but not the port in `example.com:8080`."""
BARE_HOST = re.compile(r"(?:[^/?#\s]+\.[^/?#\s]+|localhost|\[[0-9a-f:.]+\])(?::\d+)?(?:[/?#].*)?", re.IGNORECASE)


def gather(arguments: Sequence[str], file: str | None) -> tuple[str, ...]:
    """Every seed once, normalised; refuses the first that is no URL and says where it stands."""
    named = [(seed, "") for seed in arguments]
    if file is not None:
        named += read_file(file)
    found = tuple(dict.fromkeys(to_url(text, where) for text, where in named))
    if not found:
        source = f"{file} holds no URL" if file is not None else "No URL was given"
        raise UsageError(f"{source}. Write: forager crawl https://example.com, or -f FILE with one URL per line.")
    return found


def read_file(file: str) -> list[tuple[str, str]]:
    """The lines that are meant as seeds, each with its place."""
    name = "standard input" if file == "-" else file
    try:
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise UsageError(f"{name} is no UTF-8 text; a seed file has one URL per line.") from None
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {(error.strerror or str(error)).lower()}.") from None
    return list(_seed_lines(lines, name))


def _seed_lines(lines: Iterable[str], name: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if text and not text.startswith("#"):
            yield text, f"Line {number} of {name}: "


def to_url(text: str, where: str = "") -> str:
    """The page a seed means. Sentences never repeat a name and password a URL may carry."""
    from forager.urls import normalize

    try:
        return normalize(f"https://{text}" if is_bare_host(text) else text)
    except BadUrlError as error:
        raise UsageError(f"{where}{error}") from None


def is_bare_host(text: str) -> bool:
    return not SCHEME.match(text) and BARE_HOST.fullmatch(text) is not None


def refuse_without_contact(seeds: Iterable[str], contact: str | None) -> None:
    """C-23: whoever crawls somebody else's server says whom to write to."""
    if contact:
        return
    foreign = next((seed for seed in seeds if not is_loopback(seed)), None)
    if foreign is not None:
        raise ConfigurationError(
            f"Crawling {urlsplit(foreign).netloc} needs a contact that site owners can write to: "
            "use --contact you@example.com, or set FORAGER_CONTACT or `contact` in forager.toml."
        )


def is_loopback(url: str) -> bool:
    """A loopback address written as such; names are not trusted, except the one that cannot mean anything else."""
    from ipaddress import ip_address

    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
