"""A primary and a streaming replica of it, real ones, to be paused, killed and frozen. From the wheel's programs."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

from tests.conftest import _with_connection as with_connection
from tests.conftest import in_thread

from forager.db import schema
from forager.db.embedded import account, binaries
from forager.errors import DatabaseUnreachableError

DATABASE = "crawls"
PRIMARY = """
wal_level = replica
max_wal_senders = 4
hot_standby = on
hot_standby_feedback = on
max_standby_streaming_delay = 0
listen_addresses = ''
fsync = off
full_page_writes = off
shared_buffers = 32MB
max_connections = 60
autovacuum = off
dynamic_shared_memory_type = mmap
"""
"""Queries of the replica give way to the log at once here, so that a test need not wait for it."""


class Node:
    """One server."""

    def __init__(self, folder: Path, who: account.Account) -> None:
        self.data, self._socket, self._who = folder / "data", folder / "socket", who
        self._log = folder / "log"
        self._process: subprocess.Popen[bytes] | None = None
        for made in (folder, self._socket):
            made.mkdir(mode=0o700)
            os.chown(made, who.uid, who.gid)

    @property
    def host(self) -> Path:
        return self._socket

    @property
    def dsn(self) -> str:
        return f"postgresql://postgres@/{DATABASE}?host={quote(str(self._socket), safe='')}&port=5432"

    def run(self, program: str, *options: str | Path, told: str = "") -> None:
        done = self._who.run([binaries.folder() / program, *options], told=told)
        assert done.returncode == 0, done.stderr

    def start(self) -> None:
        switch = account._Switch(self._who)
        command = [binaries.folder() / "postgres", "-D", self.data, "-c", f"unix_socket_directories={self._socket}"]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [*switch.prefix, *map(str, command)],
                stdout=log,
                stderr=log,
                cwd="/",
                env=account.CLEAN_ENVIRONMENT,
                user=switch.uid,
                group=switch.gid,
                extra_groups=switch.groups,
                start_new_session=True,
            )
        while True:
            try:
                in_thread(with_connection(self.dsn, lambda c: c.fetchval("SELECT 1")))
            except DatabaseUnreachableError:
                assert self._process.poll() is None, self._log.read_text()
                time.sleep(0.05)
            else:
                return

    def kill(self) -> None:
        """With all its processes, at once; its own end is waited for."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait()
            self._process = None

    def freeze(self) -> None:
        self._signal_all(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal_all(signal.SIGCONT)

    def _signal_all(self, number: int) -> None:
        """Each of them has a session of its own, so they are found by their parent."""
        assert self._process is not None
        pids = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        for pid in (self._process.pid, *map(int, pids)):
            os.kill(pid, number)


class Pair:
    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="forager-pair-")).resolve()
        self._folder.chmod(0o711)
        who = account.choose(self._folder / "none", self._folder, binaries.folder())
        self.primary = Node(self._folder / "a", who)
        self.replica = Node(self._folder / "b", who)

    def start(self) -> None:
        first = self.primary
        first.run("initdb", "-D", first.data, "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "-N")
        with (first.data / "postgresql.conf").open("a") as file:
            file.write(PRIMARY)
        first.run("postgres", "--single", "-F", "-D", first.data, "postgres", told=f"CREATE DATABASE {DATABASE}")
        first.start()
        in_thread(with_connection(first.dsn, lambda c: schema.create_if_empty(c, "the pair")))
        self._copy()

    def _copy(self) -> None:
        options = ("-c", "fast", "-R", "-X", "stream", "-N")
        self.replica.run("pg_basebackup", "-D", self.replica.data, "-h", self.primary.host, "-U", "postgres", *options)
        self.replica.start()

    def renew(self) -> None:
        """Another replica in the place of one that went its own way."""
        self.replica.kill()
        shutil.rmtree(self.replica.data)
        self._copy()

    def stop(self) -> None:
        self.replica.kill()
        self.primary.kill()
        shutil.rmtree(self._folder)
