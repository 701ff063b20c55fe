"""A body as one compressed file, named by the hash of its content. Pure.

The file contains the few headers that parsing needs, as a line of JSON, then the body. It has neither URL nor date, so
the same response is stored once, however often and from whichever URL it comes.
"""

import base64
import hashlib
import json
import sys
from typing import Any

from forager.errors import StoreError
from forager.fetch.models import Fetched
from forager.storage.models import StoredBody
from forager.storage.policy import ContentPolicy
from forager.storage.refs import SnapshotRef

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LEVEL = 1
"""209 µs for a page of 44 KB, to 17.6 KB; level 3 takes twice as long for 4 % less."""
READ_BY = ("content-type", "content-language", "x-robots-tag", "link", "refresh")
"""Headers that parsing depends on."""
LONGEST_HEADER = 2000
MOST_BYTES = 256 * 1024 * 1024


def pack(fetched: Fetched, screenshot: bytes | None = None) -> StoredBody:
    """Packs a response. A screenshot of the rendered page is in the same file, so that it stays as long as the body."""
    headers = {name: fetched.headers[name][:LONGEST_HEADER] for name in READ_BY if name in fetched.headers}
    head: dict[str, Any] = {
        "status_code": fetched.status_code,
        "headers": headers,
        "is_truncated": fetched.is_truncated,
    }
    if screenshot is not None:
        head["screenshot"] = base64.b64encode(screenshot).decode()
    content = json.dumps(head, separators=(",", ":"), sort_keys=True).encode() + b"\n" + fetched.body
    digest = hashlib.sha256(content).hexdigest()
    return StoredBody(ContentPolicy.SNAPSHOT, digest, len(fetched.body), zstd.compress(content, LEVEL))


def unpack(blob: bytes, ref: SnapshotRef, url: str) -> Fetched:
    """Unpacks a snapshot. Raises StoreError unless it is exactly what was stored under this name."""
    head, body = _open(blob, ref)
    return Fetched(
        url, head["status_code"], head["headers"], body, len(blob), 0, is_truncated=bool(head["is_truncated"])
    )


def get_screenshot(blob: bytes, ref: SnapshotRef) -> bytes | None:
    """Returns the JPEG that was stored with a page; None if there is none. Raises StoreError as `unpack` does."""
    found = _open(blob, ref)[0].get("screenshot")
    return base64.b64decode(found) if found else None


def _open(blob: bytes, ref: SnapshotRef) -> tuple[dict[str, Any], bytes]:
    try:
        content = zstd.ZstdDecompressor().decompress(blob, MOST_BYTES)
    except zstd.ZstdError as error:
        raise _hash_mismatch(ref) from error
    if hashlib.sha256(content).hexdigest() != ref.name:
        raise _hash_mismatch(ref)
    line, _, body = content.partition(b"\n")
    return json.loads(line), body


def _hash_mismatch(ref: SnapshotRef) -> StoreError:
    return StoreError(f"The stored body {ref.name[:16]}… is damaged: it is not what its hash says.", "damaged")
