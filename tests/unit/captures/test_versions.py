"""Versions are compared with the one before, by their bodies where both can be read."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from forager.captures.models import BodyState, Capture, Change
from forager.captures.service import describe_versions
from forager.fetch.models import Fetched
from forager.storage.body_reader import BodyReader
from forager.storage.body_store import FOLDER, open_store
from forager.storage.local import LocalLocation

AT = datetime(2026, 11, 18, tzinfo=UTC)
URL = "http://a.example/"


def test_each_is_compared_with_the_one_before(tmp_path: Path) -> None:
    refs = []
    with open_store(tmp_path) as body_store:
        for policy, body in (("snapshot", b"a"), ("archive", b"a"), ("archive", b"b")):
            stored = body_store.pack(policy, Fetched(URL, 200, {}, body, 1, 0), None, AT)
            assert stored is not None
            refs.append(body_store.store([stored])[0].ref or "")
    refs += [refs[-1], "snapshot:" + "0" * 64]
    captures = [Capture(at, 1, 1, URL, AT, 200, True, ref, False, False) for at, ref in enumerate(refs)][::-1]
    reader = BodyReader(LocalLocation(tmp_path / FOLDER))
    found = asyncio.run(describe_versions(reader, captures, 10))
    assert [each.change for each in found] == [Change.CHANGED, Change.SAME, Change.CHANGED, Change.SAME, Change.FIRST]
    assert [each.state for each in found] == [BodyState.MISSING, *[BodyState.STORED] * 4]
    assert asyncio.run(describe_versions(reader, captures, 2)) == found[:2]
    assert asyncio.run(describe_versions(reader, [], 2)) == []
