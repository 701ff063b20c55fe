"""What a process was reading when it died is known afterwards, whatever killed it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from forager.engine.crash_marker import NOTE, CrashMarker, open_crash_marker, pop_crash_marker
from forager.stats.processes import started_at

DIES = """
import os, signal, sys
from pathlib import Path
from forager.engine import crash_marker
from forager.stats.processes import started_at

box = crash_marker.CrashMarker(Path(sys.argv[1]))
print(started_at(os.getpid()), flush=True)
with box.reading(7):
    pass
with box.reading(42):
    {end}
"""


def die(folder: Path, end: str) -> tuple[int, int, int]:
    """Pid, beginning and return code of a process that died while it read page 42."""
    code = DIES.format(end=end)
    process = subprocess.Popen([sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE, text=True)
    told, _ = process.communicate(timeout=60)
    return process.pid, int(told), process.returncode


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), signal.SIGKILL)", "os.abort()", "os._exit(3)"])
def test_a_note_outlives_its_process_and_is_taken_once(tmp_path: Path, end: str) -> None:
    pid, began, code = die(tmp_path, end)
    assert code != 0
    assert pop_crash_marker(tmp_path, pid, began) == 42
    assert pop_crash_marker(tmp_path, pid, began) is None


def test_reading_that_does_not_end_is_ended_by_the_system(tmp_path: Path) -> None:
    """In C code, where no handler of Python's would run."""
    stuck = "crash_marker.LONGEST_READ_S = 0.2\nwith box.reading(43):\n    __import__('re').match('(a|a)*b', 'a' * 64)"
    pid, began, code = die(tmp_path, f"pass\n{stuck}")
    assert code == -signal.SIGVTALRM
    assert pop_crash_marker(tmp_path, pid, began) == 43


def test_nothing_is_noted_between_two_pages(tmp_path: Path) -> None:
    box = CrashMarker(tmp_path)
    with box.reading(1):
        assert take_note_of_this(tmp_path) == 1
    box = CrashMarker(tmp_path)
    with pytest.raises(ZeroDivisionError), box.reading(2):
        _ = 1 / 0
    assert take_note_of_this(tmp_path) is None
    assert signal.getitimer(signal.ITIMER_VIRTUAL)[0] == 0


def take_note_of_this(folder: Path) -> int | None:
    return pop_crash_marker(folder, os.getpid(), started_at(os.getpid()))


def test_a_note_of_another_process_with_the_same_number_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "77").write_bytes(NOTE.pack(1000, 5))
    assert pop_crash_marker(tmp_path, 77, 2000) is None
    assert pop_crash_marker(tmp_path, 77, 1000) == 5


@pytest.mark.parametrize("content", [b"", b"x" * 15, b"x" * 17])
def test_a_broken_note_says_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "77").write_bytes(content)
    assert pop_crash_marker(tmp_path, 77, 1000) is None


def test_without_a_place_there_is_no_box(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with open_crash_marker(tmp_path / "file/reading") as box:
        assert box is None
    with open_crash_marker(tmp_path / "reading") as box:
        assert box is not None
    assert list((tmp_path / "reading").iterdir()) == []


def test_one_of_the_same_number_has_a_file_of_its_own(tmp_path: Path) -> None:
    """As in two containers that share a folder. Who has a file in memory is killed when somebody else cuts it off."""
    file, first = tmp_path / str(os.getpid()), CrashMarker(tmp_path)
    with file.open("rb") as held, first.reading(1):
        second = CrashMarker(tmp_path)
        assert os.fstat(held.fileno()).st_ino != file.stat().st_ino
        assert NOTE.unpack(held.read())[1] == 1
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
    second.close()
    assert list(tmp_path.iterdir()) == []
    first.close()
