"""A PostgreSQL server of its own, to be killed and frozen, run from the programs of the wheel."""

import os
import signal
import subprocess
import time
from pathlib import Path
from urllib.parse import quote

from tests.conftest import _with_connection as with_connection
from tests.conftest import in_thread

from forager.db.embedded import account, binaries
from forager.errors import DatabaseUnreachableError

DATABASE = "crawls"
CONFIGURATION = """
listen_addresses = ''
fsync = off
full_page_writes = off
shared_buffers = 32MB
max_connections = 60
autovacuum = off
dynamic_shared_memory_type = mmap
"""


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
