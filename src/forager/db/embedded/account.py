"""Chooses the account the server runs as. PostgreSQL rejects uid 0, so under root it runs as Forager's own account.

Decides the account and how a command is run under it; never runs PostgreSQL itself.
"""

import contextlib
import os
import pwd
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from forager.errors import ConfigurationError

SERVICE = "forager"
"""The system account that Forager uses when root starts it."""
SERVICE_HOME = "/var/lib/forager"
SHARED = "nobody"
"""The account that earlier versions used for PostgreSQL. Other services of a machine run under it, too."""
CREATE_TRIES = 20
SEARCH_RIGHT = "+dac_read_search"
"""Lets the account traverse and read folders that only root may enter. It gives no write permission."""


@dataclass(frozen=True, slots=True)
class Account:
    uid: int
    gid: int
    may_search: bool = False
    """Whether commands get the right to traverse closed folders."""

    def run(
        self, command: Sequence[str | Path], *, told: str = "", stderr: int = subprocess.PIPE
    ) -> subprocess.CompletedProcess[str]:
        """Runs a short command in a session of its own, so that a terminal's Ctrl-C does not reach it."""
        switch = _Switch(self)
        return subprocess.run(
            [*switch.prefix, *map(str, command)],
            input=told,
            stdout=subprocess.PIPE,
            stderr=stderr,
            cwd="/",
            env=CLEAN_ENVIRONMENT,
            start_new_session=True,
            text=True,
            errors="replace",
            check=False,
            user=switch.uid,
            group=switch.gid,
            extra_groups=switch.groups,
        )


SYSTEM_PATH = "/usr/sbin:/sbin:/usr/bin:/bin"
CLEAN_ENVIRONMENT = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}
"""None of the caller's PG* variables reaches the server."""


class _Switch:
    """How this process switches to the account: not at all, by system calls or, to keep a capability, by `setpriv`."""

    def __init__(self, account: Account) -> None:
        self.prefix: list[str] = []
        self.uid: int | None = None
        self.gid: int | None = None
        self.groups: list[int] | None = None
        if account.uid == os.geteuid():
            return
        if account.may_search:
            self.prefix = setpriv(account)
        else:
            self.uid, self.gid, self.groups = account.uid, account.gid, []


def setpriv(account: Account) -> list[str]:
    """Returns the start of a command line that runs the rest as the account, with the right to traverse closed
    folders."""
    ids = [f"--reuid={account.uid}", f"--regid={account.gid}", "--clear-groups"]
    # PostgreSQL checks its own programs with access(2), which ignores such capabilities by default.
    rights = [f"--inh-caps={SEARCH_RIGHT}", f"--ambient-caps={SEARCH_RIGHT}", "--securebits=+no_setuid_fixup"]
    return ["setpriv", *ids, *rights, "--"]


def choose(data: Path, *needed: Path) -> Account:
    """Returns the account for this cluster: its owner, the current user or, for root, an unprivileged one that can
    reach it."""
    owner = _owner(data)
    me = os.geteuid()
    if me != 0:
        if owner is not None and owner.uid != me:
            raise ConfigurationError(
                f"The database in {data} belongs to the user {name_of(owner.uid)}: run Forager as that user, or choose "
                "another folder with FORAGER_HOME."
            )
        return Account(me, os.getegid())
    if owner is None or owner.uid == 0 or has_shared_owner(data):
        owner = of_home(data.parent)
    return ensure_access(owner, data.parent, *needed)


def of_home(home: Path) -> Account:
    """Returns the account that root uses in this home: the home's owner, or Forager's own account if root owns it."""
    owner = _owner(home)
    return owner if owner is not None and owner.uid != 0 else service_account()


def of_folder(handle: int) -> Account:
    """Returns the account that root uses in an open home folder."""
    found = os.fstat(handle)
    return Account(found.st_uid, found.st_gid) if found.st_uid != 0 else service_account()


def has_shared_owner(data: Path) -> bool:
    """Returns True if an earlier version, run as root, created this cluster under the account that other services
    share."""
    owner, home = _owner(data), _owner(data.parent)
    return owner is not None and home is not None and owner.uid != home.uid and name_of(owner.uid) == SHARED


def _owner(data: Path) -> Account | None:
    try:
        found = data.stat()
    except FileNotFoundError:
        return None
    return Account(found.st_uid, found.st_gid)


def name_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def service_account() -> Account:
    """Returns Forager's own account, created on first use: processes of a shared account could enter its database."""
    for _ in range(CREATE_TRIES):  # of two concurrent processes the second one waits for the first
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(SERVICE)
            return Account(entry.pw_uid, entry.pw_gid)
        if not _create_service_account():
            time.sleep(0.1)
    raise ConfigurationError(
        f"Forager does not work as root, and the system account {SERVICE!r} that it works as could not be created: "
        f"create it (useradd --system {SERVICE}), run Forager as an ordinary user, or set FORAGER_DATABASE_URL and "
        "say --allow-root."
    )


def _create_service_account() -> bool:
    shell = shutil.which("nologin", path=SYSTEM_PATH) or "/bin/false"
    for command in (
        ["useradd", "--system", "--user-group", "--no-create-home", "--home-dir", SERVICE_HOME, "--shell", shell],
        ["adduser", "-S", "-D", "-H", "-h", SERVICE_HOME, "-s", shell],  # BusyBox
    ):
        if program := shutil.which(command[0], path=SYSTEM_PATH):
            done = subprocess.run([program, *command[1:], SERVICE], capture_output=True, check=False)
            if done.returncode == 0:
                return True
    return False


def ensure_access(account: Account, *folders: Path) -> Account:
    """Returns the account if it can reach the folders. Adds the right to traverse closed folders only if needed; raises
    if that does not suffice."""
    if _reaches(account, folders):
        return account
    searching = Account(account.uid, account.gid, may_search=True)
    if shutil.which("setpriv", path=CLEAN_ENVIRONMENT["PATH"]) and _reaches(searching, folders):
        return searching
    raise ConfigurationError(
        f"Forager does not work as root, and the user {name_of(account.uid)} cannot reach {_first_closed(folders)}: "
        "open that folder (chmod o+x), or keep Forager and its home (FORAGER_HOME) in folders that everybody may enter."
    )


def _reaches(account: Account, folders: Sequence[Path]) -> bool:
    """Checks access by entering the folders instead of computing it: modes, ACLs and capabilities all matter."""
    enter_all = 'for folder in "$@"; do cd "$folder" || exit 1; done'
    return account.run(["/bin/sh", "-c", enter_all, "sh", *folders]).returncode == 0


def _first_closed(folders: Sequence[Path]) -> Path:
    for folder in folders:
        for path in (*reversed(folder.parents), folder):
            if not path.stat().st_mode & 0o001:
                return path
    return folders[0]
