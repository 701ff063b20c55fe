import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.acceptance.conftest import forager, open_web, rng
from tests.integration.objects.server import BUCKET, ObjectServer

from forager.storage.bucket import Bucket, parse_bucket
from forager.storage.objects import BucketLocation

__all__ = ["forager", "open_web", "rng"]


@pytest.fixture(scope="session")
def shared_objects(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectServer]:
    server = ObjectServer(tmp_path_factory.mktemp("objects"))
    server.start()
    yield server
    server.kill()


@pytest.fixture
def objects(shared_objects: ObjectServer, monkeypatch: pytest.MonkeyPatch) -> ObjectServer:
    """One that lives, with its keys in our environment."""
    for name, value in shared_objects.environ.items():
        monkeypatch.setenv(name, value)
    return shared_objects


@pytest.fixture
def own_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectServer]:
    """One that a test may kill."""
    server = ObjectServer(tmp_path / "server")
    for name, value in server.environ.items():
        monkeypatch.setenv(name, value)
    server.start()
    yield server
    server.kill()


@pytest.fixture
def bucket(objects: ObjectServer) -> Bucket:
    """A folder of the test's own."""
    return parse_bucket(f"s3://{BUCKET}/{uuid.uuid4().hex}")


@pytest.fixture
def place(bucket: Bucket) -> BucketLocation:
    return BucketLocation(bucket)
