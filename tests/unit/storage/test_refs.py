"""Refs and keys: what is no ref or key in form is refused before it reaches a file system."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.errors import StoreError
from forager.storage.location import parts_of
from forager.storage.refs import SnapshotRef, WarcRef, key_of, parse

HASH = "0123456789abcdef" * 4
FILE = "forager-20260101000000-0a1b2c3d.warc.gz"


def test_a_ref_is_what_it_is_written_as() -> None:
    for ref in (SnapshotRef(HASH), WarcRef(FILE, 17, 4000)):
        assert parse(str(ref)) == ref


def test_the_name_in_a_ref_leads_to_its_file() -> None:
    assert key_of(HASH) == SnapshotRef(HASH).key == f"01/{HASH[2:]}.zst"
    assert key_of(FILE) == WarcRef(FILE, 1, 2).key == f"warc/{FILE}"


HOSTILE = [
    "",
    "..",
    "../x",
    "a/../../x",
    "/etc/passwd",
    "//x",
    "a//b",
    "a/",
    "a\0b",
    "a\nb",
    ".hidden",
    "a/.hidden",
    "a\\b",
    "~/x",
    "a/b/c/d/e",
    "ä",
    "a" * 5000,
    "-x",
    "a b",
    "C:x",
]


@pytest.mark.parametrize("key", HOSTILE)
def test_a_hostile_key_is_none(key: str) -> None:
    with pytest.raises(StoreError):
        parts_of(key)


@pytest.mark.parametrize(
    "ref",
    [
        *HOSTILE,
        "snapshot:../../etc/passwd",
        f"snapshot:{HASH}/../x",
        f"snapshot:{HASH.upper()}",
        f"snapshot:{HASH}\n",
        "warc:../x.warc.gz:0:1",
        "warc:/x.warc.gz:0:1",
        f"warc:{FILE}:-1:5",
        f"warc:{FILE}:0:5:6",
        f"warc:{FILE}.open:0:5",
        f"warc:{FILE}:0:{'9' * 40}",
        "warc:a/b.warc.gz:0:1",
    ],
)
def test_a_hostile_ref_is_none(ref: str) -> None:
    with pytest.raises(StoreError):
        parse(ref)


@given(st.text())
def test_no_key_leaves_its_folder(key: str) -> None:
    try:
        parts = parts_of(key)
    except StoreError:
        return
    assert all(part and not part.startswith(".") and "/" not in part and "\0" not in part for part in parts)
    assert "/".join(parts) == key
