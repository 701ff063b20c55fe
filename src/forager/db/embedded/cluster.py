"""Manages the files of the embedded server: creates the cluster once, writes its configuration before every start.

A cluster is created beside its final path and renamed when it is complete and on disk: a kill leaves nothing partial.
"""

import os
import re
import shutil
import sys
from importlib import resources
from pathlib import Path

from forager.db.embedded import binaries, private
from forager.db.embedded.account import Account, has_shared_owner, name_of
from forager.db.embedded.paths import DATABASE, ROLE, SUPERUSER, Place, open_folder
from forager.errors import ConfigurationError

CONFIGURATION = "forager.conf"
HBA_MARK = "# Written by Forager at every start of its own server."
MAP = "forager"


def exists(place: Place) -> bool:
    return (place.data / "PG_VERSION").exists()


def version_of(place: Place) -> int | None:
    """Returns the major version that created the cluster, from PostgreSQL's own version file."""
    try:
        return int((place.data / "PG_VERSION").read_text().split(".")[0])
    except FileNotFoundError:
        return None


def check_version(place: Place) -> None:
    found = version_of(place)
    if found is not None and found != binaries.MAJOR_VERSION:
        raise ConfigurationError(
            f"The database in {place.data} was made by PostgreSQL {found}, but this Forager brings PostgreSQL "
            f"{binaries.MAJOR_VERSION}: use the Forager that made it, or choose another folder with FORAGER_HOME."
        )


def create(place: Place, account: Account) -> None:
    """Creates the cluster, with an empty database `forager`."""
    _remove_partial(place)
    making = place.new_data
    open_folder(making, account.uid, account.gid)
    _run(account, place, ["initdb", "-D", making, *_INITDB_OPTIONS])
    database = f"CREATE DATABASE {DATABASE} OWNER {ROLE};\n\n"
    _execute(account, place, making, "postgres", _script("role.sql") + database, "-F")
    settings = private.read_file(making, "postgresql.conf")
    include = f"\ninclude '{CONFIGURATION}'\n"
    private.write_file(making, "postgresql.conf", settings + include, account.uid, account.gid)
    configure(place, making, account)
    _run(account, place, ["initdb", "-D", making, "--sync-only"])
    making.rename(place.data)
    _sync_folder(place.home)


def take_over(place: Place, account: Account) -> None:
    """Upgrades a cluster of an earlier version, whose server is not running: Forager's own account under root, and a
    role that is no superuser. Can be repeated after a kill: completed steps are detected."""
    if has_shared_owner(place.data):
        for path in (place.socket_folder, place.log, place.data):  # the marker of unfinished work goes last
            private.give(path, account.uid, account.gid)
    if HBA_MARK not in private.read_file(place.data, "pg_hba.conf"):
        _execute(account, place, place.data, "postgres", _script("role.sql"))
        _execute(account, place, place.data, DATABASE, _script("owner.sql"))


def _execute(account: Account, place: Place, data: Path, database: str, text: str, *options: str) -> None:
    """Runs statements as the bootstrap superuser, while no server runs. Each ends with a semicolon and an empty
    line."""
    command: list[str | Path] = ["postgres", "--single", "-j", "-O", *options, "-D", data, database]
    _run(account, place, command, text)


def _script(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


_INITDB_OPTIONS = (
    f"--username={SUPERUSER}",
    "--auth-local=peer",
    "--auth-host=reject",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--text-search-config=simple",
    "--no-instructions",
    "--no-sync",  # one sync at the end instead of one per file
)


def _remove_partial(place: Place) -> None:
    """Removes partial clusters. Each attempt has a folder of its own: the programs of a killed attempt may still write
    to theirs."""
    for leftover in place.home.glob(place.new_data.with_suffix(".*").name):
        shutil.rmtree(leftover, ignore_errors=True)


def _run(account: Account, place: Place, command: list[str | Path], told: str = "") -> None:
    program, *options = command
    done = account.run([binaries.folder() / program, *options], told=told)
    said = done.stderr.splitlines()
    trouble = [line for line in said if re.search(r"\b(error|ERROR|FATAL|PANIC):", line)]
    if done.returncode == 0 and not trouble:  # a single-user server reports a failed statement, but exits with 0
        return
    reason = (trouble or said or ["no reason given"])[0].rstrip(".")
    raise ConfigurationError(f"Forager could not make its database in {place.home}: {reason}.")


def configure(place: Place, data: Path, account: Account) -> None:
    """Writes the configuration. Repeated at each start: the home may have moved, and a newer Forager may have better
    settings."""
    text = _script(CONFIGURATION)
    folder = str(place.socket_folder).replace('"', '""').replace("'", "''")
    texts = {
        CONFIGURATION: f"{text}\nunix_socket_directories = '\"{folder}\"'\n",
        "pg_ident.conf": _ident(account),
        "pg_hba.conf": f"{HBA_MARK}\nlocal all all peer map={MAP}\n",
    }
    for name, content in texts.items():
        private.write_file(data, name, content, account.uid, account.gid)


def _ident(account: Account) -> str:
    """Returns the ident map. The server gets the peer's user from the kernel: the owner of its files, and root, who
    could read them anyway."""
    names = sorted({name_of(account.uid), name_of(0)})
    lines = ['{} "{}" all\n'.format(MAP, name.replace('"', '""')) for name in names]
    return HBA_MARK + "\n" + "".join(lines)


def _sync_folder(path: Path) -> None:
    if sys.platform == "win32":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
