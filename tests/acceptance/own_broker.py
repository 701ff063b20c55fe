"""A RabbitMQ of the test's own: a node of the installed server on free ports, with its files in a folder, to be
stopped, killed and started again."""

import os
import shutil
import signal
import socket
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from tests.acceptance.stage import until
from tests.ports import free_port

PROGRAM = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
"""Not the one in /usr/sbin, which becomes another user whom our folder is closed to."""


def need_rabbitmq() -> None:
    if not PROGRAM.exists() or shutil.which("epmd") is None:
        if os.environ.get("FORAGER_REQUIRE_SERVICES") == "1":
            pytest.fail("rabbitmq-server is not installed")
        pytest.skip("rabbitmq-server is not installed")


class OwnBroker:
    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        self._data = folder / "data"
        self._port, names_port = free_port(), free_port()
        (folder / "plugins").write_text("[].\n")
        self._environ = {
            "HOME": str(folder),  # its cookie is made there
            "PATH": os.environ["PATH"],
            "RABBITMQ_NODENAME": f"forager-test-{self._port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self._port),
            "RABBITMQ_DIST_PORT": str(free_port()),
            "RABBITMQ_MNESIA_BASE": str(self._data),
            "RABBITMQ_LOG_BASE": str(folder),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
            "RABBITMQ_CONFIG_FILE": str(folder / "none"),
            "RABBITMQ_ADVANCED_CONFIG_FILE": str(folder / "none"),
            "RABBITMQ_CONF_ENV_FILE": str(folder / "none"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 2:2",
            "ERL_EPMD_PORT": str(names_port),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
        }
        self._names = subprocess.Popen(["epmd", "-port", str(names_port), "-address", "127.0.0.1"])
        """Erlang's own name server; a node that finds none starts one, which would outlive it."""
        until(lambda: _listens(names_port), "Erlang's name server listens")
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"amqp://guest:guest@127.0.0.1:{self._port}//"

    def start(self) -> None:
        """It answers some seconds later."""
        with (self._folder / "said.txt").open("ab") as said:
            self._process = subprocess.Popen(
                [PROGRAM],
                env=self._environ,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )

    def stop(self) -> None:
        """As for an upgrade: queues and messages are written down."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        assert self._process.wait(60) == 0

    def kill(self) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def burn(self) -> None:
        """What it kept is gone: queues, messages, and that there ever were any."""
        shutil.rmtree(self._data)

    def close(self) -> None:
        self.kill()
        self._names.kill()
        self._names.wait()


def _listens(port: int) -> bool:
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0
