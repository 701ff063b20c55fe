"""The units of `deploy/systemd`: the same walls around each, and systemd's own opinion where it is installed."""

import re
import shutil
import subprocess
from configparser import ConfigParser
from pathlib import Path

import pytest
from tests.unit.deploy.deployed import UNITS

WALLS = {
    "NoNewPrivileges": "yes",
    "ProtectSystem": "strict",
    "ProtectHome": "yes",
    "PrivateTmp": "yes",
    "PrivateDevices": "yes",
    "ProtectKernelTunables": "yes",
    "RestrictSUIDSGID": "yes",
    "CapabilityBoundingSet": "",
    "SystemCallFilter": "@system-service",
}
MOST_EXPOSED = 2.5
"""Of ten, by `systemd-analyze security`; a service without any wall has 9.6."""
each_unit = pytest.mark.parametrize("unit", UNITS, ids=lambda unit: str(unit.name))
has_systemd = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")


def read(unit: Path) -> ConfigParser:
    parsed = ConfigParser(interpolation=None, strict=True)
    parsed.optionxform = str  # type: ignore[assignment,method-assign]
    parsed.read_string(unit.read_text(encoding="utf-8"))
    return parsed


@each_unit
def test_a_unit_has_its_walls(unit: Path) -> None:
    service = read(unit)["Service"]
    assert {name: service.get(name) for name in WALLS} == WALLS
    assert service["User"] == "forager"


@each_unit
def test_a_stop_leaves_time_for_open_requests(unit: Path) -> None:
    service = read(unit)["Service"]
    assert service["KillMode"] == "mixed", "only the first process is asked; it tells the others"
    assert int(service["TimeoutStopSec"]) >= 60


def test_a_worker_that_was_sent_away_stays_away() -> None:
    """It ends with 0, as after a SIGTERM; whatever else ends it is trouble."""
    (worker,) = [unit for unit in UNITS if unit.name.startswith("forager-worker")]
    assert read(worker)["Service"]["Restart"] == "on-failure"


@has_systemd
@each_unit
def test_systemd_understands_it(unit: Path, tmp_path: Path) -> None:
    program = shutil.which("true")
    text = re.sub(r"^ExecStart=\S+", f"ExecStart={program}", unit.read_text(encoding="utf-8"), flags=re.MULTILINE)
    copy = tmp_path / unit.name.replace("@", "@1")
    copy.write_text(text, encoding="utf-8")
    said = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True, check=False, timeout=60
    )
    about_it = [line for line in said.stderr.splitlines() if copy.name in line]
    assert about_it == []


@has_systemd
@each_unit
def test_it_is_hardly_exposed(unit: Path) -> None:
    said = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", unit], capture_output=True, text=True, check=False, timeout=60
    )
    found = re.search(r"exposure level for \S+ ([\d.]+)", said.stdout)
    assert found, said.stderr
    assert float(found[1]) < MOST_EXPOSED
