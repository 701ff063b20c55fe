"""The files of the embedded server: makes the cluster once, writes our configuration before every start.

A cluster is made beside its place and moved there when it is whole and on disk: a kill leaves nothing half made.
"""

import os
import re
import shutil
import sys
from importlib import resources
from pathlib import Path

from forager.db.embedded import binaries
from forager.db.embedded.account import Account
from forager.db.embedded.place import DATABASE, SUPERUSER, Place, open_folder
from forager.errors import ConfigurationError

CONFIGURATION = "forager.conf"


def exists(place: Place) -> bool:
    return (place.data / "PG_VERSION").exists()


def version_of(place: Place) -> int | None:
    """The major version that made the cluster: PostgreSQL's own version file."""
    try:
        return int((place.data / "PG_VERSION").read_text().split(".")[0])
    except FileNotFoundError:
        return None


def refuse_other_version(place: Place) -> None:
    found = version_of(place)
    if found is not None and found != binaries.MAJOR_VERSION:
        raise ConfigurationError(
            f"The database in {place.data} was made by PostgreSQL {found}, but this Forager brings PostgreSQL "
            f"{binaries.MAJOR_VERSION}: use the Forager that made it, or choose another folder with FORAGER_HOME."
        )


def create(place: Place, account: Account) -> None:
    """An empty database `forager` is part of it."""
    _remove_unfinished(place)
    making = place.new_data
    open_folder(making, account.uid, account.gid)
    _run(account, place, ["initdb", "-D", making, *_INITDB_OPTIONS])
    _run(account, place, ["postgres", "--single", "-F", "-D", making, "postgres"], f"CREATE DATABASE {DATABASE}")
    with (making / "postgresql.conf").open("a", encoding="utf-8") as file:
        file.write(f"\ninclude '{CONFIGURATION}'\n")
    configure(place, making)
    _run(account, place, ["initdb", "-D", making, "--sync-only"])
    making.rename(place.data)
    _sync_folder(place.home)


_INITDB_OPTIONS = (
    f"--username={SUPERUSER}",
    "--auth=trust",  # whoever may enter the socket's folder may connect, and nobody else reaches it
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--text-search-config=simple",
    "--no-instructions",
    "--no-sync",  # once at the end, instead of file by file in between
)


def _remove_unfinished(place: Place) -> None:
    """Each attempt has a folder of its own: the programs of a killed one may still be writing theirs."""
    for leftover in place.home.glob(place.new_data.with_suffix(".*").name):
        shutil.rmtree(leftover, ignore_errors=True)


def _run(account: Account, place: Place, command: list[str | Path], told: str = "") -> None:
    program, *options = command
    done = account.run([binaries.folder() / program, *options], told=told)
    said = done.stderr.splitlines()
    trouble = [line for line in said if re.search(r"\b(error|ERROR|FATAL|PANIC):", line)]
    if done.returncode == 0 and not trouble:  # a single-user server reports a failed statement, and ends well
        return
    reason = (trouble or said or ["no reason given"])[0].rstrip(".")
    raise ConfigurationError(f"Forager could not make its database in {place.home}: {reason}.")


def configure(place: Place, data: Path) -> None:
    """Written anew at each start: the home may have moved, and a newer Forager may know better settings."""
    text = resources.files(__package__).joinpath(CONFIGURATION).read_text(encoding="utf-8")
    folder = str(place.socket_folder).replace('"', '""').replace("'", "''")
    target = data / CONFIGURATION
    fresh = target.with_suffix(".new")
    fresh.write_text(f"{text}\nunix_socket_directories = '\"{folder}\"'\n", encoding="utf-8")
    fresh.replace(target)


def _sync_folder(path: Path) -> None:
    if sys.platform == "win32":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
