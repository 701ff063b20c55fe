"""Real pages, where this machine has them: they belong to their sites and are no part of the repository."""

import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ARCHIVE = Path(__file__).resolve().parents[2].parent / "shared" / "corpus" / "pages.tar.zst"


def real_pages() -> Iterator[tuple[str, bytes]]:
    """Yields names and bodies; skips the test where there are none."""
    if not ARCHIVE.exists():
        pytest.skip("there are no real pages on this machine (../shared/corpus)")
    with zstd.ZstdFile(ARCHIVE) as file, tarfile.open(fileobj=file, mode="r|") as archive:
        for member in archive:
            is_page = member.name.endswith(".html") and not member.name.endswith(".expected.html")
            if is_page and (body := archive.extractfile(member)) is not None:
                yield member.name, body.read()
