"""A machine of its own for a worker: a network namespace behind a cable that can be pulled, or that loses all there is
between it and the database. Needs root and `ip`."""

import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from forager.db.pool import tcp_options

NETWORK = f"10.231.{os.getpid() % 8192 // 32}"
"""Eight addresses for each process that runs tests."""
FIRST = os.getpid() % 32 * 8
HERE, THERE = (f"{NETWORK}.{FIRST + number}" for number in (1, 2))
DATABASE, DATABASE_CLIENT = (f"{NETWORK}.{FIRST + number}" for number in (5, 6))
"""Where the database is reached, and who calls there: addresses of their own, so that they alone can fall silent."""
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
    """Reaches the web on our loopback, and servers on our end of the cable or relayed to it."""

    def __init__(self) -> None:
        self._name, self._cable, self._far_end = (f"{what}{os.getpid()}"[:15] for what in ("fgrm", "fgrc", "fgrf"))

    def build(self) -> None:
        _do("ip", "netns", "add", self._name)
        _do("ip", "link", "add", self._cable, "type", "veth", "peer", "name", self._far_end, "netns", self._name)
        for near, far in ((HERE, THERE), (DATABASE, DATABASE_CLIENT)):
            _do("ip", "addr", "add", f"{near}/30", "dev", self._cable)
            self._inside("ip", "addr", "add", f"{far}/30", "dev", self._far_end)
        self.plug_in()
        self._inside("ip", "link", "set", self._far_end, "up")
        self._inside("ip", "route", "add", WEB, "via", HERE, "dev", self._far_end)
        self._inside("sh", "-c", f"echo 1 > {_localnet(self._far_end)}")  # 127.77.0.1 is ours, beyond the cable
        _localnet(self._cable).write_text("1")
        _conf(self._cable, "rp_filter").write_text("1")  # who cannot be answered is not heard, either

    @property
    def command(self) -> list[str]:
        """What stands before a command that runs on it."""
        return ["ip", "netns", "exec", self._name]

    def pull_out(self) -> None:
        _do("ip", "link", "set", self._cable, "down")

    def plug_in(self) -> None:
        _do("ip", "link", "set", self._cable, "up")

    def silence_database(self) -> None:
        """Whatever is sent between the two is lost from now on, without a word to either: no packet ends a connection,
        none refuses one."""
        _do("ip", "route", "add", "blackhole", f"{DATABASE_CLIENT}/32")

    def let_database_speak(self) -> None:
        _do("ip", "route", "del", "blackhole", f"{DATABASE_CLIENT}/32")

    def silence_web(self) -> None:
        """Whatever the web sends to it is lost from now on."""
        _do("ip", "route", "add", "blackhole", f"{THERE}/32")

    def let_web_speak(self) -> None:
        _do("ip", "route", "del", "blackhole", f"{THERE}/32")

    def take_route_away(self) -> None:
        """It knows no way to the web from now on."""
        self._inside("ip", "route", "del", WEB)

    def give_route_back(self) -> None:
        self._inside("ip", "route", "add", WEB, "via", HERE, "dev", self._far_end)

    def name_hosts(self, addresses: Mapping[str, str]) -> None:
        """It knows these names, and no other: there is no name server it could reach. Before the first command, and
        again while commands run."""
        lines = "".join(f"{address} {name}\n" for name, address in addresses.items())
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / "hosts").write_text(lines)  # the same file: it is mounted where a command runs

    @property
    def _folder(self) -> Path:
        """Files here lie over those of /etc for commands that run on it."""
        return Path("/etc/netns") / self._name

    def destroy(self) -> None:
        subprocess.run(["ip", "netns", "del", self._name], check=False)
        shutil.rmtree(self._folder, ignore_errors=True)
        for silent in (DATABASE_CLIENT, THERE):
            subprocess.run(["ip", "route", "del", "blackhole", f"{silent}/32"], capture_output=True, check=False)

    def _inside(self, *command: str) -> None:
        _do(*self.command, *command)


@contextmanager
def another_machine() -> Iterator[Machine]:
    machine = Machine()
    try:
        machine.build()
        yield machine
    finally:
        machine.destroy()


@contextmanager
def relay_to(host: str, port: int, *, at: str = HERE) -> Iterator[int]:
    """A port on our end of the cable that leads to a server which listens on loopback only."""
    with socket.create_server((at, 0)) as door:
        threading.Thread(target=_welcome, args=(door, host, port), daemon=True).start()
        yield door.getsockname()[1]


def _welcome(door: socket.socket, host: str, port: int) -> None:
    with suppress(OSError):  # the door is shut
        while True:
            caller, _ = door.accept()
            for level, option, value in tcp_options():  # as the server watches whom it hears without a relay
                caller.setsockopt(level, option, value)
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
    return _conf(device, "route_localnet")


def _conf(device: str, name: str) -> Path:
    return Path(f"/proc/sys/net/ipv4/conf/{device}/{name}")


def _do(*command: str) -> None:
    subprocess.run(command, check=True)
