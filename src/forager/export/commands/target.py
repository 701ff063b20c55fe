"""Where an export goes: standard output, a file, or an object in a bucket. Nothing half appears under its name."""

import contextlib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from forager.cli import output
from forager.errors import UsageError

if TYPE_CHECKING:
    from forager.config.settings import Settings
    from forager.storage.bucket import Bucket

S3 = "s3://"
OBJECT = re.compile(r"(s3://[^/]+(?:/.+)?)/([^/]+)")


class BucketTarget(NamedTuple):
    bucket: "Bucket"
    """With the folder as its prefix."""
    name: str


def is_in_bucket(path: str | None) -> bool:
    return path is not None and path.startswith(S3)


def parse_target(settings: "Settings", path: str) -> BucketTarget:
    """Returns the bucket and the name of the object. Raises UsageError and ConfigurationError."""
    from forager.storage.factory import bucket_at

    found = OBJECT.fullmatch(path)
    if found is None:
        raise UsageError(f"{path} names no object: write it like s3://bucket/folder/pages.parquet.")
    return BucketTarget(bucket_at(settings, found[1]), found[2])


def check_target(settings: "Settings", path: str | None) -> None:
    """Checks the target before an export of hours: a folder that is missing, or a bucket that lets nobody in."""
    if path is None:
        return
    if not is_in_bucket(path):
        output.check_writable(path)
        return
    from forager.storage.bucket import probe_bucket

    probe_bucket(parse_target(settings, path).bucket)


@contextlib.contextmanager
def open_target(settings: "Settings", path: str | None) -> Iterator[BinaryIO]:
    """Opens the target: a file or an object appears when the block ends without an error."""
    if not is_in_bucket(path):
        with output.open_output(path) as stream:
            yield stream
        return
    from forager.storage.upload import open_upload

    bucket, name = parse_target(settings, str(path))
    with open_upload(bucket, name) as stream:
        yield stream
