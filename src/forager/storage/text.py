"""The main text of a page as one compressed file of Markdown, named by the hash of its content; and the text of any
stored body.

A visit that finds the same text again refers to the same file.
"""

import hashlib
import sys
from typing import Protocol

from forager.errors import StoreError
from forager.fetch.documents import is_pdf
from forager.fetch.models import Fetched
from forager.storage.models import StoredBody
from forager.storage.policy import ContentPolicy
from forager.storage.refs import TextRef, parse
from forager.storage.text_process import render_isolated

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LEVEL = 3
"""Text is short: 40 µs for 8 KB."""
HEAD = b'{"markdown":1}\n'
"""So that no text has the name of a snapshot."""
MOST_BYTES = 64 * 1024 * 1024


class Bodies(Protocol):
    """What a text is loaded from: a `BodyStore`."""

    def load(self, ref: str, url: str) -> Fetched: ...
    def load_text(self, ref: TextRef) -> str: ...


def pack(markdown: str) -> StoredBody:
    body = markdown.encode("utf-8", "replace")
    content = HEAD + body
    digest = hashlib.sha256(content).hexdigest()
    return StoredBody(ContentPolicy.TEXT, digest, len(body), zstd.compress(content, LEVEL))


def unpack(blob: bytes, ref: TextRef) -> str:
    """Unpacks a text. Raises StoreError unless it is exactly what was stored under this name."""
    try:
        content = zstd.ZstdDecompressor().decompress(blob, MOST_BYTES)
    except zstd.ZstdError as error:
        raise _hash_mismatch(ref) from error
    if hashlib.sha256(content).hexdigest() != ref.name or not content.startswith(HEAD):
        raise _hash_mismatch(ref)
    return content[len(HEAD) :].decode()


def load_text(store: Bodies, ref: str, url: str) -> str:
    """Returns the text of a visit as Markdown: the stored one, or one that is made from the stored body now. Blocks.
    Raises StoreError if the file cannot be loaded, and DecodeError if it cannot be parsed."""
    found = parse(ref)
    if isinstance(found, TextRef):
        return store.load_text(found)
    fetched = store.load(ref, url)
    return render_isolated(fetched) if is_pdf(fetched.body) else render(fetched)


def render(fetched: Fetched) -> str:
    """Returns the main text of a response as Markdown. Imports the parser here: every process may load a text, and few
    have to make one."""
    from forager.parsing.page import read_markdown

    return read_markdown(fetched)


def _hash_mismatch(ref: TextRef) -> StoreError:
    return StoreError(f"The stored text {ref.name[:16]}… is damaged: it is not what its hash says.", "damaged")
