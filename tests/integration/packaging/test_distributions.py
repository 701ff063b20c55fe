"""The sdist and the wheel contain the built dashboard and no playground, and installing them needs no Node."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from forager import __version__

ROOT = Path(__file__).parents[3]
INDEX = "src/forager/dashboard/static/index.html"
SERVED = "import forager; from forager.dashboard import load; print(forager.__file__); print(load()['/'].body.decode())"

pytestmark = [
    pytest.mark.xdist_group("distributions"),  # built once
    pytest.mark.skipif(not (ROOT / INDEX).exists(), reason="the dashboard is not built: make dashboard"),
]


def build(target: str, root: Path, folder: Path, **environ: str) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(command, cwd=root, env=os.environ | environ, check=True, capture_output=True)
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("sdist", ROOT, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the sdist where there is neither Node nor a C compiler."""
    unpacked = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as archive:
        archive.extractall(unpacked, filter="data")
    nothing = str(tmp_path_factory.mktemp("nothing"))
    source = unpacked / f"forager_crawler-{__version__}"
    return build("wheel", source, tmp_path_factory.mktemp("wheel"), PATH=nothing, CC=f"{nothing}/cc")


def test_the_sdist_contains_the_built_dashboard_and_nothing_else_that_is_built(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {INDEX, "native.py", "hatch_build.py", "playground/pyproject.toml", "Makefile"} <= names
    assert not [name for name in names if name.endswith((".so", ".pyc")) or "node_modules" in name]


def test_the_wheel_contains_the_built_dashboard_and_no_playground(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert INDEX.removeprefix("src/") in names
    assert {name.partition("/")[0] for name in names} == {"forager", f"forager_crawler-{__version__}.dist-info"}
    assert not [name for name in names if "/playground/" in name or name.endswith((".c", ".h"))]


def test_an_unpacked_wheel_runs_and_has_the_dashboard(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    environ = os.environ | {"PYTHONPATH": str(tmp_path)}
    version = [sys.executable, "-m", "forager", "--version"]
    assert subprocess.check_output(version, env=environ, cwd=tmp_path, text=True).startswith(f"forager {__version__}")
    served = subprocess.check_output([sys.executable, "-c", SERVED], env=environ, cwd=tmp_path, text=True)
    assert served.startswith(str(tmp_path))
    assert "/assets/" in served
