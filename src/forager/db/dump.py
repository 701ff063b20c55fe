"""Runs PostgreSQL's own dump and restore programs: those of the wheel or, for another server version, those on PATH.

Passwords are passed in the environment: every user of the machine can see the arguments of a process.
"""

import asyncio
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from forager.db.dsn import place_of
from forager.db.embedded import binaries
from forager.db.pool import OLDEST_SERVER
from forager.errors import ConfigurationError, StoreError

LOCK_PATIENCE = "30s"
LEVEL = 6
TIMEOUTS_SINCE = 17
"""From this version on a dump begins with a setting that older servers do not know."""
FULL = re.compile(r"no space left|disk quota exceeded|file too large", re.IGNORECASE)


async def dump(dsn: str, major: int, path: Path) -> None:
    """Writes a consistent, compressed snapshot of the database while others keep writing. An interrupted dump leaves a
    partial file."""
    program = find("pg_dump", major)
    options: list[str | Path] = ["--format=custom", f"--compress={LEVEL}", "--no-owner", "--no-privileges"]
    where, secret = split_password(dsn)
    command: list[str | Path] = [
        program,
        *options,
        f"--lock-wait-timeout={LOCK_PATIENCE}",
        f"--file={path}",
        f"--dbname={where}",
    ]
    await _run(command, secret, f"The database at {place_of(dsn)} could not be dumped")


async def verify(path: Path, major: int) -> int:
    """Reads a dump from its first byte to its last. Returns the number of tables whose rows it contains."""
    program = find("pg_restore", major, reads_only=True)
    await _run([program, "--file=/dev/null", path], None, f"{path} is no whole dump")
    listed = await _run([program, "--list", path], None, f"{path} is no whole dump")
    return sum(" TABLE DATA " in line for line in listed.splitlines())


async def restore(dsn: str, major: int, path: Path) -> None:
    """Restores a dump into an empty database, completely or not at all."""
    program = find("pg_restore", major)
    where, secret = split_password(dsn)
    options = ["--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error", f"--dbname={where}"]
    await _run([program, *options, path], secret, f"{path} could not be restored into {place_of(dsn)}")


def find(program: str, major: int, *, reads_only: bool = False) -> Path:
    """Returns the program for a server of this version: the same version on PATH, or the wheel's, which supports older
    ones."""
    ours = binaries.MAJOR_VERSION
    if major == ours or (reads_only and major < ours):
        return binaries.folder() / program
    found = shutil.which(program)
    if found is not None and _version(found) == major:
        return Path(found)
    if (TIMEOUTS_SINCE if program == "pg_restore" else OLDEST_SERVER) <= major < ours:
        return binaries.folder() / program
    raise ConfigurationError(
        f"A PostgreSQL {major} needs the {program} of its own version: install postgresql-client-{major}, "
        "so that it is on PATH."
    )


def _version(program: str) -> int | None:
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"\) (\d+)", said)
    return int(found[1]) if found else None


def split_password(dsn: str) -> tuple[str, str | None]:
    """Returns the URL without its password, and the password."""
    parts = urlsplit(dsn)
    query = parse_qsl(parts.query, keep_blank_values=True)
    in_query = next((value for name, value in query if name == "password"), None)
    rest = urlencode([(name, value) for name, value in query if name != "password"], quote_via=quote)
    user, _, hosts = parts.netloc.rpartition("@")
    name, _, password = user.partition(":")
    netloc = f"{name}@{hosts}" if user else hosts
    found = unquote(password) if password else in_query
    return urlunsplit((parts.scheme, netloc, parts.path, rest, "")) if netloc else _without_host(
        parts.path, rest
    ), found


def _without_host(path: str, query: str) -> str:
    return f"postgresql://{path}" + (f"?{query}" if query else "")


def bind_to_parent(command: Sequence[str]) -> list[str]:
    """Returns the command, wrapped so that it ends with this process."""
    return [sys.executable, "-I", "-S", str(Path(__file__).with_name("die_with_parent.py")), str(os.getpid()), *command]


async def _run(command: Sequence[str | Path], secret: str | None, failed: str) -> str:
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    environment |= {"PGPASSWORD": secret} if secret else {}
    process = await asyncio.create_subprocess_exec(
        *bind_to_parent(list(map(str, command))),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        cwd="/",
        start_new_session=True,
    )
    try:
        said, complaint = await process.communicate()
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        raise
    if process.returncode:
        raise _trouble(complaint.decode("utf-8", "replace"), failed, process.returncode)
    return said.decode("utf-8", "replace")


def _trouble(complaint: str, failed: str, code: int) -> StoreError:
    lines = [line for line in complaint.splitlines() if "error:" in line] or complaint.splitlines()
    if FULL.search(complaint) or code == -signal.SIGXFSZ:
        return StoreError(f"{failed}: the disk is full. Make room, then try again.", "disk_full")
    reason = lines[0].partition("error: ")[2] or lines[0] if lines else f"it ended with {code}"
    return StoreError(f"{failed}: {reason.strip().rstrip('.')}.")
