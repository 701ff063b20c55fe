"""Command output: data to standard output, messages to standard error, files written atomically.

Nothing is coloured or drawn unless a terminal reads it and `NO_COLOR` is unset.
"""

import contextlib
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from forager.cli.root import opened_output
from forager.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

PIPE_WIDTH = 1000
"""Width of a table that is not shown on a terminal: nothing is cut, so that `grep` finds it."""


_is_quiet = False


def set_quiet(is_quiet: bool) -> None:
    """Turns off all messages that are not errors, for `-q`."""
    global _is_quiet  # noqa: PLW0603 (a fact about this process)
    _is_quiet = is_quiet


def is_quiet() -> bool:
    return _is_quiet


def say(sentence: str) -> None:
    """Prints a message for the user, unless `-q` was given; never data, never an error."""
    if not _is_quiet:
        _write_message(sentence)


def complain(sentence: str) -> None:
    """Prints an error or a warning, also with `-q`."""
    _write_message(f"forager: {sentence}")


def _write_message(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def write_json(value: object) -> None:
    """Prints one document on standard output."""
    sys.stdout.write(as_json(value) + "\n")


def write_json_list(rows: Sequence[Mapping[str, Any]]) -> None:
    """Prints one JSON array, a row per line: readable, and one `json.loads` for a program."""
    lines = ",\n".join(" " + as_json(row) for row in rows)
    sys.stdout.write(f"[\n{lines}\n]\n" if rows else "[]\n")


def as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=_plain)


def _plain(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


def console(stream: Literal["stdout", "stderr"] = "stdout") -> "Console":
    """Returns a rich console for one of our streams; without a terminal it is wide and plain."""
    from rich.console import Console

    target = sys.stdout if stream == "stdout" else sys.stderr
    width = None if target.isatty() else PIPE_WIDTH
    return Console(file=target, width=width, highlight=False, markup=False, emoji=False, soft_wrap=not target.isatty())


def check_writable(path: str) -> None:
    """Checks the path before anything starts: a crawl of hours must not fail because of a mistyped folder."""
    if path == "-" or opened_output(path) is not None:
        return
    target = Path(path)
    folder = target.parent
    if target.is_dir():
        raise UsageError(f"{path} is a folder; name a file to write to.")
    if not folder.is_dir():
        raise UsageError(f"{path} cannot be written: there is no folder {folder}.")
    if not os.access(folder, os.W_OK) or (target.exists() and not os.access(target, os.W_OK)):
        raise UsageError(f"{path} cannot be written: permission denied.")


@contextlib.contextmanager
def open_output(path: str | None) -> Iterator[BinaryIO]:
    """Opens the data stream: standard output for None and `-`, else a file that appears only when it is complete."""
    if path in {None, "-"}:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    assert path is not None
    check_writable(path)
    if (handle := opened_output(path)) is not None:
        with _buffer_until_close(handle) as stream:
            yield stream
        return
    if Path(path).exists() and not Path(path).is_file():
        # A device or a pipe such as /dev/null cannot be renamed over.
        with open(path, "wb") as stream:
            yield stream
        return
    with _atomic_file(Path(path).resolve()) as stream:
        yield stream


@contextlib.contextmanager
def _buffer_until_close(handle: int) -> Iterator[BinaryIO]:
    """Buffers output for a file in a folder of root, where no temporary file can be created beside it: it is written at
    the end."""
    import shutil
    import tempfile

    with os.fdopen(handle, "wb") as target, tempfile.TemporaryFile() as stream:
        yield stream
        stream.seek(0)
        target.truncate(0)
        shutil.copyfileobj(stream, target)


@contextlib.contextmanager
def _atomic_file(path: Path) -> Iterator[BinaryIO]:
    import tempfile

    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, _mode_for(path))
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _mode_for(path: Path) -> int:
    """Sets permissions: a temporary file is private; the result gets those of the old file, or of any new file."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
