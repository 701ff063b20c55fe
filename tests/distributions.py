"""`python -m tests.distributions FOLDER`: installs the wheel and the sdist of FOLDER, each in a fresh environment
without Node, and tries what was installed: the version, the dashboard of `forager api` and the extra `demo`.

`make dist` calls it with what it has built.
"""

import os
import re
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from forager import __version__

UV = Path(sys.executable).with_name("uv")
NODE = {"node", "nodejs", "npm", "npx"}
Environ = dict[str, str]


def hide_node(folder: Path) -> str:
    """Returns a PATH that has every program of ours but Node's."""
    for directory in os.environ["PATH"].split(os.pathsep):
        for program in Path(directory).iterdir() if Path(directory).is_dir() else ():
            link = folder / program.name
            if program.name not in NODE and not link.exists() and not link.is_symlink():
                link.symlink_to(program)
    return str(folder)


def install(file: Path, venv: Path, environ: Environ, extra: str = "") -> None:
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, venv], env=environ, check=True)
    requirement = f"forager-crawler{extra} @ {file.as_uri()}"
    command: list[str | Path] = [
        UV,
        "pip",
        "install",
        "--quiet",
        "--python",
        venv / "bin/python",
        "--find-links",
        file.parent,
    ]
    subprocess.run([*command, requirement], env=environ, check=True)


@contextmanager
def serving(forager: Path, environ: Environ) -> Iterator[str]:
    """Runs `forager api`; gives its address."""
    command: list[str | Path] = [forager, "api", "--port", "0"]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            assert process.stdout is not None
            said = process.stdout.readline()
            found = re.search(r"http://[\d.]+:\d+", said)
            assert found, f"`forager api` does not say where it serves: {said}"
            yield found.group()
        finally:
            process.terminate()


def check(file: Path, folder: Path) -> None:
    """Raises where what was installed does not work."""
    (folder / "bin").mkdir()
    environ = os.environ | {"PATH": hide_node(folder / "bin"), "FORAGER_HOME": str(folder / "home")}
    install(file, folder / "venv", environ)
    forager = folder / "venv/bin/forager"
    version = subprocess.check_output([forager, "--version"], env=environ, text=True)
    assert version.startswith(f"forager {__version__} (commit "), version
    with serving(forager, environ) as address:
        page = urllib.request.urlopen(f"{address}/", timeout=30).read().decode()
    assert "/assets/" in page, "the dashboard is not inside"
    demo = subprocess.run([forager, "demo"], env=environ, capture_output=True, text=True, check=False)
    assert demo.returncode == 4, demo.stderr
    install(file, folder / "demo", environ, "[demo]")
    subprocess.run(
        [folder / "demo/bin/forager", "demo", "--scale", "0.1"], env=environ, check=True, capture_output=True
    )


def main(dist: Path) -> None:
    for file in sorted(dist.glob(f"forager_crawler-{__version__}*")):
        with tempfile.TemporaryDirectory() as folder:
            check(file, Path(folder))
        sys.stdout.write(f"{file.name} installs without Node, serves the dashboard and runs the demo.\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
