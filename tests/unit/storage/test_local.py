"""Bodies in a folder: whole or not at all, durable, and nothing outside of the folder is ever touched."""

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from forager import clock
from forager.errors import StoreError
from forager.storage.local import LocalLocation

KEY = "ab/cdef.zst"
SOON = timedelta(minutes=1)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "home" / "bodies"


@pytest.fixture
def place(root: Path) -> LocalLocation:
    return LocalLocation(root)


def files_of(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_what_is_put_can_be_had_again_whole_or_in_pieces(place: LocalLocation) -> None:
    assert place.put({KEY: b"0123456789", "cd/x": b"", "y": b"z"}) == {}
    assert place.get(KEY) == b"0123456789"
    assert place.get(KEY, 3, 4) == b"3456"
    assert place.get("cd/x") == b""
    assert sorted(item.key for item in place.list()) == [KEY, "cd/x", "y"]
    assert [item.size_bytes for item in place.list("ab")] == [10]


def test_nothing_is_left_but_the_files(place: LocalLocation, root: Path) -> None:
    place.put({KEY: b"1"})
    place.put({KEY: b"1"})
    assert files_of(root) == [KEY]


@pytest.mark.parametrize(("start", "length"), [(0, 11), (11, 1), (5, 10**12)])
def test_a_piece_beyond_the_end_is_damage(place: LocalLocation, start: int, length: int) -> None:
    place.put({KEY: b"0123456789"})
    with pytest.raises(StoreError) as error:
        place.get(KEY, start, length)
    assert error.value.reason == "damaged"


def test_what_is_not_there_is_missing(place: LocalLocation) -> None:
    with pytest.raises(StoreError) as error:
        place.get(KEY)
    assert error.value.reason == "missing"
    assert place.confirm([KEY]) == set()
    assert place.delete([KEY], unless_since=clock.now()) == [KEY]
    assert list(place.list()) == []


def test_only_what_is_old_is_deleted(place: LocalLocation, root: Path) -> None:
    place.put({KEY: b"1", "cd/ef": b"2"})
    os.utime(root / KEY, (0, 0))
    assert place.delete([KEY, "cd/ef"], unless_since=clock.now() - SOON) == [KEY]
    assert files_of(root) == ["cd/ef"]


def test_what_is_confirmed_is_not_old(place: LocalLocation, root: Path) -> None:
    place.put({KEY: b"1"})
    os.utime(root / KEY, (0, 0))
    assert place.confirm([KEY]) == {KEY}
    assert place.delete([KEY], unless_since=clock.now() - SOON) == []
    assert place.get(KEY) == b"1"


def test_a_killed_writers_files_are_tidied_up_later(place: LocalLocation, root: Path) -> None:
    place.put({KEY: b"1"})
    left, fresh = root / "tmp" / "1-a-0", root / "tmp" / "2-b-0"
    left.write_bytes(b"half")
    fresh.write_bytes(b"half")
    os.utime(left, (0, 0))
    assert place.remove_stale() == 1
    assert files_of(root) == [KEY, "tmp/2-b-0"]


# Nothing outside of the folder ---------------------------------------------------------------------------------------


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret").write_bytes(b"secret")
    os.utime(folder / "secret", (0, 0))
    return folder


def test_a_folder_that_is_a_link_is_not_entered(place: LocalLocation, root: Path, outside: Path) -> None:
    root.mkdir(parents=True)
    (root / "ab").symlink_to(outside)
    assert place.put({"ab/new": b"1"})["ab/new"].reason == "not_ours"
    with pytest.raises(StoreError) as error:
        place.get("ab/secret")
    assert error.value.reason == "not_ours"
    assert place.confirm(["ab/secret"]) == set()
    with pytest.raises(StoreError):
        place.delete(["ab/secret"], unless_since=clock.now())
    assert files_of(outside) == ["secret"]
    assert (outside / "secret").stat().st_mtime == 0


def test_a_file_that_is_a_link_is_not_followed(place: LocalLocation, root: Path, outside: Path) -> None:
    place.put({"ab/x": b"1"})
    (root / "ab/link").symlink_to(outside / "secret")
    with pytest.raises(StoreError):
        place.get("ab/link")
    assert place.put({"ab/link": b"2"}) == {}  # the link is replaced, not what it leads to
    assert (outside / "secret").read_bytes() == b"secret"
    assert place.get("ab/link") == b"2"
    assert "ab/x" in {item.key for item in place.list()}


def test_the_root_may_be_a_link_to_another_disk(root: Path, outside: Path) -> None:
    root.parent.mkdir(parents=True)
    root.symlink_to(outside)
    place = LocalLocation(root)
    assert place.put({KEY: b"1"}) == {}
    assert (outside / KEY).read_bytes() == b"1"


def test_a_pipe_is_no_body(place: LocalLocation, root: Path) -> None:
    place.put({"ab/x": b"1"})
    os.mkfifo(root / "ab/pipe")
    holder = os.open(root / "ab/pipe", os.O_RDWR)
    try:
        with pytest.raises(StoreError) as error:
            place.get("ab/pipe")
    finally:
        os.close(holder)
    assert error.value.reason == "not_ours"


@pytest.mark.parametrize("key", ["../x", "/x", "a\0", "a/../b", "x" * 1000])
def test_hostile_keys_reach_no_file(place: LocalLocation, key: str, tmp_path: Path) -> None:
    for act in (
        lambda: place.get(key),
        lambda: place.confirm([key]),
        lambda: place.delete([key], unless_since=clock.now()),
        lambda: place.put({key: b"1"}),
        lambda: list(place.list(key)),
    ):
        with pytest.raises(StoreError):
            act()
    assert "x" not in files_of(tmp_path)


# No room -------------------------------------------------------------------------------------------------------------


def test_no_room_for_one_leaves_the_others(place: LocalLocation, root: Path) -> None:
    """The limit on file sizes stands in for a full disk: writing ends the same way, in the middle of a file."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        failed = place.put({"ab/large": bytes(5000), "ab/small": b"1"})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert {key: error.reason for key, error in failed.items()} == {"ab/large": "disk_full"}
    assert files_of(root) == ["ab/small"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("only root may mount a small disk")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def test_a_disk_that_is_full(small_disk: Path) -> None:
    place = LocalLocation(small_disk / "bodies")
    failed = place.put({f"ab/{number}": os.urandom(20_000) for number in range(8)})
    stored = {item.key for item in place.list()}
    assert 0 < len(stored) < 8
    assert {error.reason for error in failed.values()} == {"disk_full"}
    assert stored.isdisjoint(failed)
    assert all(len(place.get(key)) == 20_000 for key in stored)
    place.delete(sorted(stored), unless_since=clock.now() + SOON)
    assert place.put({"ab/x": b"1"}) == {}


@pytest.mark.skipif(sys.platform != "linux", reason="mounts as Linux does")
def test_a_folder_that_cannot_be_written(small_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    assert LocalLocation(small_disk / "bodies").put({KEY: b"1"})[KEY].reason == "not_writable"
