"""What `forager` does when root starts it: it gives the rights of root up for good before it opens anything.

Whatever strangers send (pages, images, scripts) is then handled by an account that owns the home and nothing else. It
is the home's owner, or the system account `forager`. `--allow-root` (or FORAGER_ALLOW_ROOT=1) stays root.
"""

import contextlib
import json
import os
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
OUTPUTS = ("-o", "--output", "--body")
KNOWN = frozenset(
    {
        *("postgres", "postgres.log", "postgres.log.old", "postgres.lock", "postgres.users", "postgres.keep", "socket"),
        *(
            "bodies",
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
        *("forager.toml", "playground.jsonl", "plugins", "lost+found", ".cache"),
    }
)
"""What lies in a home. A folder with anything else in it is not given away."""

_is_program = False


def mark_program() -> None:
    """Called where `forager` runs as a program of its own: only then a process is ours to change."""
    global _is_program  # noqa: PLW0603 (a fact about this process)
    _is_program = True


def leave_root(home: Path) -> None:
    """Continues as an ordinary account that owns the home. Does nothing without root, or where root is allowed."""
    if not _is_program or os.geteuid() != 0 or is_allowed():
        return
    from forager.db.embedded import account

    home = home.expanduser().resolve()
    chosen = account.of_home(home)
    _hand_over(home, chosen)
    chosen = account.able_to_reach(chosen, home, *_needed())
    opened = _open_outputs(sys.argv[1:])
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
    """The handle of an output file that root named, and that only root may write."""
    handles = json.loads(os.environ.get(LEFT, "{}"))
    handle: int | None = handles.get(os.path.abspath(path))
    if handle is not None:
        os.set_inheritable(handle, False)
    return handle


def _open_outputs(arguments: Sequence[str]) -> dict[str, int]:
    """Opens the files that the command will write to, without changing them: their folder is root's."""
    paths = [after for word, after in pairwise(arguments) if word in OUTPUTS]
    paths += [word.partition("=")[2] for word in arguments if word.startswith("--output=")]
    opened = {}
    for path in map(os.path.abspath, paths):
        with contextlib.suppress(OSError):
            if os.path.basename(path) != "-" and (os.path.isfile(path) or not os.path.exists(path)):
                opened[path] = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
    return opened


def hint() -> str:
    """What to say to root, who is used to be allowed everything."""
    if LEFT not in os.environ:
        return ""
    return (
        f" Started by root, Forager works as the user {account_name()}: give it the file, or say --allow-root before "
        "the command's name."
    )


def account_name() -> str:
    from forager.db.embedded.account import name_of

    return name_of(os.geteuid())


def _hand_over(home: Path, chosen: "Account") -> None:
    """Makes the home its own: a new folder, or one that root used before and that holds nothing but a home's files."""
    from forager.db import embedded
    from forager.db.embedded import private
    from forager.db.embedded.account import name_of

    if not home.exists():
        home.parent.mkdir(parents=True, exist_ok=True)
        home.mkdir(mode=0o700)
    elif home.stat().st_uid != 0:
        for name in KNOWN.intersection(os.listdir(home)):  # left by a command with --allow-root
            if (home / name).lstat().st_uid == 0:
                private.give(home / name, chosen.uid, chosen.gid)
        return
    strange = sorted(name for name in os.listdir(home) if name not in KNOWN and not name.startswith("postgres.new."))
    if strange:
        raise ConfigurationError(
            f"Forager does not work as root, and {home} cannot be given to the user {name_of(chosen.uid)}: it holds "
            f"other things, such as {strange[0]!r}. Choose a folder of its own with FORAGER_HOME, or say --allow-root."
        )
    if embedded.status(home).is_used:
        raise ConfigurationError(f"Another Forager runs as root in {home}: stop it first, or say --allow-root.")
    embedded.stop(home)
    for name in os.listdir(home):
        private.give(home / name, chosen.uid, chosen.gid)
    home.chmod(0o700)
    os.chown(home, chosen.uid, chosen.gid)  # last: until then it is root's, and nobody else changes it


def _needed() -> list[Path]:
    """The folders that Python and Forager are loaded from."""
    program = Path(sys.executable)
    folders = [
        program.parent,
        program.resolve().parent,
        *map(Path, (sys.prefix, sys.base_prefix)),
        *map(Path, sys.path),
    ]
    return list(dict.fromkeys(folder for folder in folders if folder.is_absolute() and folder.is_dir()))


def _prepare_environment(home: Path, opened: Mapping[str, int]) -> None:
    """Root's own folders are closed from now on. USER stays: the audit log names who gave the command."""
    os.environ |= {"FORAGER_HOME": str(home), "HOME": str(home), LEFT: json.dumps(opened)}
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"):
        os.environ.pop(name, None)
