"""Bodies where a plug-in stores them: whatever it raises or returns is an error of the store, or right."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from forager.config.loader import load
from forager.config.settings import Settings
from forager.errors import ConfigurationError, StoreError
from forager.plugins import registry
from forager.plugins.models import NO_PLUGINS
from forager.storage.factory import check_bucket, get_location, where_bodies_go
from forager.storage.migrator import WarcMover
from forager.storage.plugin_location import PluginLocation

EXAMPLE = Path(__file__).parents[3] / "examples/plugins/sqlite_bodies.py"
FAILING = """
import sys
import forager
from forager.plugins import Storage

class Broken:
    files = {}
    def put(self, items):
        return {key: "too dull" for key in items if "dull" in key} | {"other/key": OSError("not asked")}
    def get(self, key, start=0, length=None):
        return {"ab/text": "text", "ab/short": b"x", "ab/exit": None}[key] if key != "ab/exit" else sys.exit(3)
    def size(self, key):
        return "many"
    def confirm(self, keys):
        raise ConnectionError("nobody\\nis there")
    def delete(self, keys, *, unless_since):
        return None
    def list(self, prefix=""):
        yield ("../etc/passwd", 1, None)
    def put_file(self, key, path):
        self.files[key] = path.read_bytes()

def refuse(target):
    raise PermissionError("locked")

class Moving(Broken):
    def size(self, key):
        return len(self.files[key])

class Losing(Broken):
    def size(self, key):
        return 3

@forager.hookimpl
def register_storage():
    return [
        Storage("broken", lambda target: Broken()), Storage("refuse", refuse), Storage("none", lambda target: None),
        Storage("s3", refuse), Storage("Bad", refuse), Storage("moving", lambda target: Moving()),
        Storage("losing", lambda target: Losing()),
    ]
"""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "plugins").mkdir()
    shutil.copy(EXAMPLE, tmp_path / "plugins")
    (tmp_path / "plugins" / "house.py").write_text(FAILING)
    registry.configure(NO_PLUGINS)
    yield tmp_path
    registry.configure(NO_PLUGINS)


def settings_of(home: Path, bucket: str) -> Settings:
    return load({"home": str(home), "storage.bucket": bucket}, {})


def test_the_example_stores_confirms_lists_and_deletes(home: Path) -> None:
    settings = settings_of(home, f"sqlite:{home}/bodies.db")
    check_bucket(settings)
    place = get_location(settings)
    assert where_bodies_go(settings) == f"sqlite:{home}/bodies.db"
    before = datetime.now(UTC)
    assert place.put({"ab/one": b"12345", "images/cd/two": b""}) == {}
    assert (place.get("ab/one"), place.get("ab/one", 1, 3), place.size("images/cd/two")) == (b"12345", b"234", 0)
    with pytest.raises(StoreError, match=r"ab/one in sqlite:.* ends before byte 9") as damaged:
        place.get("ab/one", 4, 5)
    for read in (place.get, place.size):
        with pytest.raises(StoreError, match=r"ab/none in sqlite:.* is not there") as missing:
            read("ab/none")
    assert (damaged.value.reason, missing.value.reason) == ("damaged", "missing")
    assert place.confirm(["ab/one", "ab/none"]) == {"ab/one"}
    assert {each.key: each.size_bytes for each in place.list()} == {"ab/one": 5, "images/cd/two": 0}
    assert [each.key for each in place.list("images")] == ["images/cd/two"]
    assert place.delete(["ab/one", "ab/none"], unless_since=before) == ["ab/none"]
    assert place.delete(["ab/one"], unless_since=datetime.now(UTC) + timedelta(seconds=1)) == ["ab/one"]
    assert get_location(settings).put({"ab/one": b"1"}) == {}
    with pytest.raises(StoreError):
        place.get("../etc/passwd")


def test_whatever_it_does_wrong_is_an_error_of_the_store(home: Path) -> None:
    settings = settings_of(home, "broken:x")
    place = get_location(settings)
    failed = place.put({"ab/dull": b"", "ab/fine": b""})
    assert {key: str(error) for key, error in failed.items()} == {
        "ab/dull": "The plug-in house failed with ab/dull in broken:x: too dull."
    }
    assert place.confirm(["ab/one"]) == set()
    for key, length in (("ab/text", None), ("ab/exit", None), ("ab/none", None)):
        with pytest.raises(StoreError, match="The plug-in house failed with") as raised:
            place.get(key, 0, length)
        assert raised.value.reason == "plugin_failed"
    with pytest.raises(StoreError, match="ends before"):
        place.get("ab/short", 0, 5)
    for call in (lambda: place.size("ab/one"), lambda: place.delete(["ab/one"], unless_since=datetime.now(UTC))):
        with pytest.raises(StoreError, match="The plug-in house failed with"):
            call()
    with pytest.raises(StoreError):
        list(PluginLocation("broken:x").list())
    with pytest.raises(ConfigurationError, match="failed with probe in broken:x: ConnectionError: nobody is there"):
        check_bucket(settings)
    assert {error.hook for error in registry.current().take_errors()} == {"register_storage"}


@pytest.mark.parametrize(
    ("bucket", "said"),
    [
        ("refuse:x", r"The plug-in house failed to open refuse:x: PermissionError: locked\."),
        ("none:x", r"TypeError: its location has no put, get, size, confirm, delete, list\."),
        ("gopher:x", r"No plug-in stores bodies in gopher:x \(storage\.bucket\): there are s3, broken, refuse, none, "),
        ("s3:x", "must start with s3://"),
        ("https://x", "must start with s3://"),
        ("sqlite", "must start with s3://"),
        ("sqlite:", "must start with s3://"),
        ("sqlite:a\x00b", "must start with s3://"),
    ],
)
def test_a_mistake_in_the_setting_is_one_sentence_at_the_start(home: Path, bucket: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        check_bucket(settings_of(home, bucket))


def test_backups_and_archives_go_to_buckets_only(home: Path) -> None:
    for name in ("backup.bucket", "archive.bucket"):
        with pytest.raises(ConfigurationError, match="must start with s3://, such as s3://bucket/folder"):
            load({"home": str(home), name: "sqlite:x"}, {})


@pytest.mark.parametrize(("bucket", "is_moved"), [("moving:x", True), ("losing:x", False), ("sqlite:{}/b.db", None)])
def test_archive_files_move_where_files_are_taken(home: Path, bucket: str, is_moved: bool | None) -> None:
    settings = settings_of(home, bucket.format(home))
    check = get_location(settings)
    folder = home / "bodies/warc"
    folder.mkdir(parents=True)
    (folder / "a.warc.gz").write_bytes(b"records")
    place = PluginLocation(bucket.format(home))
    assert WarcMover(folder, place).move_all() is (is_moved is not False)
    assert (folder / "a.warc.gz").exists() is (is_moved is not True)
    assert check.size("warc/a.warc.gz") == 7
