"""The dashboard as it was built from `dashboard/`: files in memory, each with the headers it is served with.

It knows nothing of the API it calls. Where it was not built, a page says how.
"""

import functools
import gzip
import hashlib
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "static"
INDEX = "/"
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
"""Nothing but its own files, and nothing written into a page: what was crawled can never run."""
FOR_EVER = "public, max-age=31536000, immutable"
NOT_BUILT = b"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Forager</title>
<h1>The dashboard is not built</h1>
<p>The API works. From a checkout, <code>make dashboard</code> builds it; an installed wheel has it inside.</p></html>
"""
SMALL = 1400
"""Bytes that fit in one packet: compressing them gains nothing."""


@dataclass(frozen=True)
class File:
    body: bytes
    headers: Mapping[str, str]

    @functools.cached_property
    def packed(self) -> bytes | None:
        """By gzip, when it is asked for first; None where that gains nothing."""
        packed = gzip.compress(self.body, 9, mtime=0) if len(self.body) > SMALL else None
        return packed if packed and len(packed) < len(self.body) else None


@functools.cache
def load(folder: Path = FOLDER) -> Mapping[str, File]:
    """Path → file, for all there are. `INDEX` is the page that every address of the dashboard begins with."""
    found = {"/" + path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    files = {name: _read(path.read_bytes(), name) for name, path in found.items() if name != "/index.html"}
    index = found.get("/index.html")
    files[INDEX] = _read(index.read_bytes() if index else NOT_BUILT, "/index.html")
    return files


def _read(body: bytes, name: str) -> File:
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    is_named_by_content = name.startswith("/assets/")
    headers = {
        "content-type": f"{kind}; charset=utf-8" if kind.startswith("text/") or kind.endswith("javascript") else kind,
        "cache-control": FOR_EVER if is_named_by_content else "no-cache",
        "etag": f'"{hashlib.sha256(body).hexdigest()[:16]}"',
        "content-security-policy": CSP,
    }
    return File(body, headers)
