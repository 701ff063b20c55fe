"""A machine of its own for a worker: a network namespace behind a cable that can be pulled. Needs root and `ip`."""

import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

HERE, THERE = "10.231.0.1", "10.231.0.2"
WEB = "127.77.0.0/16"
MOST_BYTES = 65536


def need_machines() -> None:
    if reason := _why_not():
        if os.environ.get("FORAGER_REQUIRE_SERVICES") == "1":
            pytest.fail(f"Machines of their own need root and `ip` (iproute2): {reason}.")
        pytest.skip(reason)


def _why_not() -> str | None:
    """None where namespaces can be made."""
    if shutil.which("ip") is None:
        return "there is no `ip` here"
    name = f"fgr-try-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if made.returncode:
        return f"network namespaces are not permitted: {made.stderr.strip()}"
    subprocess.run(["ip", "netns", "del", name], check=False)
    return None


class Machine:
    """Reaches the web on our loopback and one relayed server, by one cable."""

    def __init__(self) -> None:
        self._name, self._cable, self._far_end = (f"{what}{os.getpid()}"[:15] for what in ("fgrm", "fgrc", "fgrf"))

    def build(self) -> None:
        _do("ip", "netns", "add", self._name)
        _do("ip", "link", "add", self._cable, "type", "veth", "peer", "name", self._far_end, "netns", self._name)
        _do("ip", "addr", "add", f"{HERE}/30", "dev", self._cable)
        self.plug_in()
        self._inside("ip", "addr", "add", f"{THERE}/30", "dev", self._far_end)
        self._inside("ip", "link", "set", self._far_end, "up")
        self._inside("ip", "route", "add", WEB, "via", HERE, "dev", self._far_end)
        self._inside("sh", "-c", f"echo 1 > {_localnet(self._far_end)}")  # 127.77.0.1 is ours, beyond the cable
        _localnet(self._cable).write_text("1")

    def pull_out(self) -> None:
        _do("ip", "link", "set", self._cable, "down")

    def plug_in(self) -> None:
        _do("ip", "link", "set", self._cable, "up")

    def spawn(self, *arguments: str, environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
        command = ["ip", "netns", "exec", self._name, sys.executable, "-m", "forager", *arguments]
        return subprocess.Popen(
            command,
            env=os.environ | environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    def destroy(self) -> None:
        subprocess.run(["ip", "netns", "del", self._name], check=False)

    def _inside(self, *command: str) -> None:
        _do("ip", "netns", "exec", self._name, *command)


@contextmanager
def another_machine() -> Iterator[Machine]:
    machine = Machine()
    try:
        machine.build()
        yield machine
    finally:
        machine.destroy()


@contextmanager
def relay_to(host: str, port: int) -> Iterator[int]:
    """A port on our end of the cable that leads to a server which listens on loopback only."""
    with socket.create_server((HERE, 0)) as door:
        threading.Thread(target=_welcome, args=(door, host, port), daemon=True).start()
        yield door.getsockname()[1]


def _welcome(door: socket.socket, host: str, port: int) -> None:
    with suppress(OSError):  # the door is shut
        while True:
            caller, _ = door.accept()
            server = socket.create_connection((host, port))
            for source, target in ((caller, server), (server, caller)):
                threading.Thread(target=_pass_on, args=(source, target), daemon=True).start()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(MOST_BYTES):
            target.sendall(data)
    for each in (source, target):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
        each.close()


def _localnet(device: str) -> Path:
    return Path(f"/proc/sys/net/ipv4/conf/{device}/route_localnet")


def _do(*command: str) -> None:
    subprocess.run(command, check=True)
