"""Exports into a bucket of a real S3 server: whole or not there, increments remembered beside them."""

import json
import os
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, BinaryIO

import pytest
from tests.acceptance.conftest import NETWORK, OpenWeb
from tests.acceptance.stage import Forager
from tests.integration.objects.server import BUCKET, ObjectServer

from forager.errors import PluginFailedError, StoreError
from forager.export.commands.writers import write_file
from forager.export.formats import PluginFormat
from forager.plugins.contributions import Exporter
from forager.storage.bucket import Bucket, parse_bucket
from forager.storage.bucket_folder import BucketFolder
from forager.storage.upload import PART_BYTES, open_upload

LARGE = 3 * PART_BYTES + 17


def test_what_is_written_in_pieces_is_one_object(bucket: Bucket) -> None:
    folder = BucketFolder(bucket)
    for size in (0, 5, PART_BYTES, LARGE):
        content = os.urandom(1000) * (size // 1000 + 1)
        with open_upload(bucket, "x.bin") as stream:
            for at in range(0, size, 900_001):
                stream.write(memoryview(content)[at : min(at + 900_001, size)])
            assert stream.tell() == size
        assert folder.read("x.bin") == content[:size]


def fail_after(bucket: Bucket, size: int) -> None:
    with open_upload(bucket, "x.bin") as stream:
        stream.write(bytes(size))
        raise OSError(28, "No space left on device")


@pytest.mark.parametrize("size", [5, LARGE])
def test_an_error_leaves_what_was_there(bucket: Bucket, size: int) -> None:
    folder = BucketFolder(bucket)
    for before in (None, b"before"):
        if before is not None:
            with open_upload(bucket, "x.bin") as stream:
                stream.write(before)
        with pytest.raises(OSError, match="No space"):
            fail_after(bucket, size)
        assert (folder.read("x.bin") if before is not None else folder.look("x.bin")) == before


def test_a_server_that_refuses_is_told_in_one_sentence(objects: ObjectServer) -> None:
    absent = parse_bucket("s3://absent-bucket")
    with pytest.raises(StoreError, match="absent-bucket"), open_upload(absent, "x") as stream:
        stream.write(bytes(LARGE))


def write_large(rows: Iterator[dict[str, Any]], _columns: Mapping[str, str], file: BinaryIO) -> None:
    for row in rows:
        file.write(bytes(PART_BYTES))
        if row["n"] == 3:
            raise ValueError("no more")


async def test_a_plug_in_that_fails_leaves_what_was_there(bucket: Bucket) -> None:
    async def rows(count: int) -> AsyncIterator[dict[str, Any]]:
        for number in range(count):
            yield {"n": number}

    chosen = PluginFormat("house", Exporter("large", "bin", write_large))
    folder = BucketFolder(bucket)
    with pytest.raises(PluginFailedError, match="ValueError: no more"):
        await write_file("x.bin", rows(9), {}, chosen=chosen, opener=lambda _: open_upload(bucket, "x.bin"))
    assert folder.look("x.bin") is None
    await write_file("x.bin", rows(3), {}, chosen=chosen, opener=lambda _: open_upload(bucket, "x.bin"))
    assert len(folder.read("x.bin")) == 3 * PART_BYTES


@pytest.mark.acceptance
@pytest.mark.timeout(240)
def test_a_crawl_is_exported_there(forager: Forager, open_web: OpenWeb, objects: ObjectServer) -> None:
    web = open_web("shop=8")
    unpaced = {"FORAGER_POLITENESS_NO_DELAY_HOSTS": NETWORK}
    forager.start(*web.urls, "--keep", "snapshot", "-o", "out.jsonl", **unpaced).finish()
    url = f"s3://{BUCKET}/{uuid.uuid4().hex}"
    forager.environ |= objects.environ
    folder = BucketFolder(parse_bucket(url))
    forager.do("export", "pages", "-o", f"{url}/pages.jsonl")
    rows = [json.loads(line) for line in folder.read("pages.jsonl").splitlines()]
    assert {row["url"] for row in rows if row["fetched_at"]} == web.key.expected_success()
    forager.do("export", "wacz", "-o", f"{url}/all.wacz")
    assert folder.read("all.wacz").startswith(b"PK")
    for _ in range(2):
        forager.do("export", "prices", "--partition-by", "month", "--since", "last", "-o", f"{url}/lake")
    names = [name for name in folder.files() if name.startswith("lake/")]
    assert sorted(name.rpartition("/")[2] for name in names) == ["part-0.parquet", "prices.last.json"]
    assert json.loads(folder.read("lake/prices.last.json"))["number"] == 1
    for target, word in ((f"s3://{BUCKET}", "names no object"), ("s3://absent-bucket/x.csv", "no bucket")):
        ended = subprocess.run(
            [sys.executable, "-m", "forager", "export", "pages", "-o", target],
            env=os.environ | forager.environ,
            cwd=forager.folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert ended.returncode != 0
        assert word in ended.stderr
