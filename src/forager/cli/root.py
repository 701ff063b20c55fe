"""Drops root privileges for good before anything is opened, when root starts `forager`.

Untrusted content (pages, images, scripts) is then handled by an account that owns the home and nothing else: the home's
owner, or the system account `forager`. `--allow-root` (or FORAGER_ALLOW_ROOT=1) stays root.
"""

import contextlib
import fcntl
import json
import os
import stat
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from forager.errors import ConfigurationError

if TYPE_CHECKING:
    from forager.db.embedded.account import Account

ALLOW = "FORAGER_ALLOW_ROOT"
LEFT = "FORAGER_LEFT_ROOT"
"""In the environment of a command that root started: the output files that were opened before, by path, as JSON."""
MARK = "root.used"
"""Marker in the home of another account: root worked in it as root, so files in it may be root's. Locked meanwhile."""
PARTITIONED = "--partition-by"
"""With it `-o` names a folder."""
OUTPUTS = ("-o", "--output", "--body")
READ = "read"
"""The command that takes a file to read."""
KNOWN = frozenset(
    {
        *("postgres", "postgres.log", "postgres.log.old", "postgres.lock", "postgres.users", "postgres.keep", "socket"),
        *(
            "bodies",
            "extractors",
            "plugins",
            "reading",
            "cold",
            "backups",
            "restore.part",
            "restore.unfinished",
            "up.lock",
            "webhook.key",
            "secret.key",
            "demo",
        ),
        *("forager.toml", "playground.jsonl", "plugins", "lost+found", ".cache", MARK),
    }
)
"""The entries of a home. A folder with anything else in it does not change its owner."""

_is_program = False


def mark_program() -> None:
    """Called when `forager` runs as a program: only then may the process change its account."""
    global _is_program  # noqa: PLW0603 (a fact about this process)
    _is_program = True


def leave_root(home: Path) -> None:
    """Continues as an ordinary account that owns the home. Does nothing without root, or where root is allowed."""
    if not _is_program or os.geteuid() != 0:
        return
    from forager.db.embedded import account, private

    home = home.expanduser().resolve()
    if is_allowed():
        _mark_use(home)
        return
    home.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        home.mkdir(mode=0o700)
    with private.open_resolved(home) as folder:
        chosen = account.of_folder(folder)
        _transfer(home, folder, chosen)
    chosen = account.ensure_access(chosen, home, *_needed())
    opened = _open_outputs(sys.argv[1:]) | _open_inputs(sys.argv[1:])
    _prepare_environment(home, opened)
    if chosen.may_search:
        for handle in opened.values():
            os.set_inheritable(handle, True)
        prefix = account.setpriv(chosen)
        sys.stdout.flush()
        os.execvp(prefix[0], [*prefix, sys.executable, *sys.orig_argv[1:]])  # noqa: S606 (no shell is wanted)
    os.setgroups([])
    os.setgid(chosen.gid)
    os.setuid(chosen.uid)


def is_allowed() -> bool:
    return os.environ.get(ALLOW, "").lower() in {"1", "true", "yes", "on"}


def opened_output(path: str) -> int | None:
    """Returns the handle of an output file that root named, and that only root may write."""
    handles = json.loads(os.environ.get(LEFT, "{}"))
    handle: int | None = handles.get(os.path.abspath(path))
    if handle is not None:
        os.set_inheritable(handle, False)
    return handle


def _open_outputs(arguments: Sequence[str]) -> dict[str, int]:
    """Opens the files that the command will write to, without changing them: their folder is root's."""
    if any(word.startswith(PARTITIONED) for word in arguments):
        return {}
    paths = [after for word, after in pairwise(arguments) if word in OUTPUTS]
    paths += [word.partition("=")[2] for word in arguments if word.startswith("--output=")]
    opened = {}
    for path in map(os.path.abspath, paths):
        with contextlib.suppress(OSError):
            if os.path.basename(path) != "-" and (os.path.isfile(path) or not os.path.exists(path)):
                opened[path] = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
    return opened


def opened_input(path: str) -> int | None:
    """Returns the handle of a file that root named, and that only root may read."""
    return opened_output(path)


def _open_inputs(arguments: Sequence[str]) -> dict[str, int]:
    """Opens the page that `forager read` gets: it may be in a folder of root."""
    if READ not in arguments:
        return {}
    opened = {}
    for path in map(os.path.abspath, arguments[arguments.index(READ) + 1 :]):
        with contextlib.suppress(OSError, ValueError):
            if os.path.isfile(path):
                opened[path] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    return opened


def hint() -> str:
    """Explains to root, who is normally allowed everything, why access was denied."""
    if LEFT not in os.environ:
        return ""
    return (
        f" Started by root, Forager works as the user {account_name()}: give it the file, or say --allow-root before "
        "the command's name."
    )


def account_name() -> str:
    from forager.db.embedded.account import name_of

    return name_of(os.geteuid())


def _transfer(home: Path, folder: int, chosen: "Account") -> None:
    """Makes the account the owner of the home: a new folder, or one that root used before and that has only a home's
    files. Works through the open folder, as the owner of a parent folder may replace what the path leads to."""
    from forager.db import embedded
    from forager.db.embedded import private

    if os.fstat(folder).st_uid != 0:
        _take_back(folder, chosen)
        return
    _reject_other_files(home, folder, chosen)
    if embedded.status(home).is_used:
        raise ConfigurationError(f"Another Forager runs as root in {home}: stop it first, or say --allow-root.")
    embedded.stop(home)
    os.fchmod(folder, 0o700)
    _reject_other_files(home, folder, chosen)  # from now on no other account can add files
    for name in os.listdir(folder):
        private.chown_tree(name, folder, chosen.uid, chosen.gid)
    os.fchown(folder, chosen.uid, chosen.gid)  # last: until then it is root's, and no other account changes it


def _reject_other_files(home: Path, folder: int, chosen: "Account") -> None:
    from forager.db.embedded.account import name_of

    strange = sorted(name for name in os.listdir(folder) if name not in KNOWN and not name.startswith("postgres.new."))
    if strange:
        raise ConfigurationError(
            f"Forager does not work as root, and {home} cannot be given to the user {name_of(chosen.uid)}: it holds "
            f"other things, such as {strange[0]!r}. Choose a folder of its own with FORAGER_HOME, or say --allow-root."
        )


def _mark_use(home: Path) -> None:
    """Marks the home of another account while this process lives: files of root may be created in it."""
    from forager.db.embedded import private

    with contextlib.suppress(OSError, ConfigurationError), private.open_resolved(home) as folder:
        if os.fstat(folder).st_uid != 0 and (mark := _open_mark(folder, os.O_CREAT)) is not None:
            fcntl.flock(mark, fcntl.LOCK_SH)
            os.pwrite(mark, b"1", 0)


def _open_mark(folder: int, flags: int = 0) -> int | None:
    """Returns the marker if it is root's: the home's owner can replace it with anything."""
    from forager.db.embedded import private

    try:
        mark = os.open(MARK, os.O_RDWR | flags | private.PLAIN, 0o600, dir_fd=folder)
    except OSError:
        return None
    found = os.fstat(mark)
    if stat.S_ISREG(found.st_mode) and found.st_uid == 0 and found.st_nlink == 1:
        return mark
    os.close(mark)
    return None


def _take_back(folder: int, chosen: "Account") -> None:
    """Gives the home's owner the files that commands with --allow-root left in it. The whole home is scanned only after
    such a command, or if the upper two levels show one of an earlier version: there may be a million bodies."""
    from forager.db.embedded import private

    names = KNOWN.intersection(os.listdir(folder)) - {MARK}
    mark = _open_mark(folder)
    try:
        is_marked = mark is not None and os.fstat(mark).st_size > 0
        if is_marked or any(_shows_root(name, folder) for name in names):
            is_over = mark is not None and _lock(mark)
            for name in names:
                private.chown_tree(name, folder, chosen.uid, chosen.gid, only_of=0)
            if mark is not None and is_over:
                os.ftruncate(mark, 0)
    finally:
        if mark is not None:
            os.close(mark)


def _lock(mark: int) -> bool:
    """Returns False if root still works there; the marker then stays for the next time."""
    try:
        fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _shows_root(name: str, folder: int) -> bool:
    """Returns whether an entry, or one directly in it, is root's and can change its owner."""
    from forager.db.embedded import private

    with contextlib.suppress(OSError):
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if found.st_uid == 0 and private.is_single(found):
            return True
        below = os.open(name, private.FOLDER, dir_fd=folder)
        try:
            with os.scandir(below) as entries:
                inner = [entry.stat(follow_symlinks=False) for entry in entries]
        finally:
            os.close(below)
        return any(each.st_uid == 0 and private.is_single(each) for each in inner)
    return False


def _needed() -> list[Path]:
    """Returns the folders that Python and Forager are loaded from."""
    program = Path(sys.executable)
    folders = [
        program.parent,
        program.resolve().parent,
        *map(Path, (sys.prefix, sys.base_prefix)),
        *map(Path, sys.path),
    ]
    return list(dict.fromkeys(folder for folder in folders if folder.is_absolute() and folder.is_dir()))


def _prepare_environment(home: Path, opened: Mapping[str, int]) -> None:
    """Points the environment to the home: root's own folders are inaccessible from now on. USER stays: the audit log
    names the user who ran the command."""
    os.environ |= {"FORAGER_HOME": str(home), "HOME": str(home), LEFT: json.dumps(opened)}
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"):
        os.environ.pop(name, None)
