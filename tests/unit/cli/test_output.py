"""Files appear whole or not at all."""

import os
from pathlib import Path

import pytest

from forager.cli.output import check_writable, open_output, write_json_list
from forager.errors import UsageError


def test_a_file_is_there_only_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with open_output(str(path)) as stream:
        stream.write("ü\n".encode())
        assert not path.exists()
    assert path.read_bytes() == "ü\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_leaves_the_old_file_and_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("old")

    def fail_half_way() -> None:
        with open_output(str(path)) as stream:
            stream.write(b"new")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_rights_are_kept_or_those_of_any_new_file(tmp_path: Path) -> None:
    old, new, plain = tmp_path / "old", tmp_path / "new", tmp_path / "plain"
    old.touch()
    old.chmod(0o640)
    plain.touch()
    for path in (old, new):
        with open_output(str(path)) as stream:
            stream.write(b"x")
    assert old.stat().st_mode & 0o777 == 0o640
    assert new.stat().st_mode == plain.stat().st_mode


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.touch()
    link.symlink_to(target)
    with open_output(str(link)) as stream:
        stream.write(b"x")
    assert link.is_symlink()
    assert target.read_text() == "x"


def test_devices_are_written_to_and_stay() -> None:
    with open_output(os.devnull) as stream:
        stream.write(b"x")
    assert Path(os.devnull).is_char_device()


def test_what_cannot_be_written_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder"):
        check_writable(str(tmp_path))
    with pytest.raises(UsageError, match="there is no folder"):
        check_writable(str(tmp_path / "missing" / "out"))
    check_writable("-")


def test_standard_output_is_a_dash(capsys: pytest.CaptureFixture[str]) -> None:
    for path in (None, "-"):
        with open_output(path) as stream:
            stream.write(b"x")
    assert capsys.readouterr().out == "xx"


def test_a_list_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    write_json_list([])
    write_json_list([{"a": 1}, {"b": b"\x01"}])
    assert capsys.readouterr().out == '[]\n[\n {"a": 1},\n {"b": "01"}\n]\n'
