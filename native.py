"""Compiles the inner loops that are written in C, each beside the Python it speeds up: `src/forager/ROOM/_native.c`,
which may include headers of `src/forager/ROOM/c`.

    python native.py             compile those that are missing or older than their source
    python native.py --strict    compile all of them elsewhere, and fail where the compiler has something to say
    python native.py --sanitize FOLDER
                                 compile all of them into FOLDER with AddressSanitizer and UBSan, and print what to
                                 preload; fails where the compiler cannot

They are done without where there is no C compiler, or no header of Python: then Forager takes the Python ways, which
give the same results. So this never fails for a person who installs Forager. `make`, the build of a wheel and an
editable install call it; two of them at once do not disturb each other.
"""

import argparse
import os
import secrets
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent
PACKAGE = Path("src/forager")
SUFFIX = str(sysconfig.get_config_var("EXT_SUFFIX"))
"""It names the version and the platform: no other Python loads what was compiled for this one."""
FLAGS = ("-std=c11", "-O3", "-fPIC", "-fvisibility=hidden", "-DNDEBUG", "-Wall", "-Wextra")
HARDENED = ("-fstack-protector-strong", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2")
"""These read strangers' bytes: a mistake in them ends the process instead of giving it away."""
AS_MODULE = (
    ("-bundle", "-undefined", "dynamic_lookup")
    if sys.platform == "darwin"
    else ("-shared", "-Wl,-z,relro", "-Wl,-z,now", "-Wl,-z,noexecstack")
)
WITHOUT = "Forager works, and reading a page takes about ten times as long."


class NotCompiledError(Exception):
    """Why there is nothing to load, as a person reads it."""


def sources(root: Path = ROOT) -> list[Path]:
    return sorted((root / PACKAGE).glob("*/_native.c"))


def module_of(source: Path) -> Path:
    return source.with_name("_native" + SUFFIX)


def build(root: Path = ROOT) -> list[Path]:
    """Every module beside its source, compiled where it has to be. What is out of date goes first: nobody is to load it
    where it cannot be compiled any more."""
    stale = [source for source in sources(root) if not is_fresh(module_of(source), source)]
    for source in stale:
        module_of(source).unlink(missing_ok=True)
    compiler = find_compiler()
    for source in stale:
        compile_one(compiler, source, module_of(source))
    return [module_of(source) for source in sources(root)]


def is_fresh(module: Path, source: Path) -> bool:
    made_of = [source, Path(__file__), *source.parent.glob("c/*.h")]
    try:
        return module.stat().st_mtime >= max(part.stat().st_mtime for part in made_of)
    except FileNotFoundError:
        return False


def find_compiler() -> list[str]:
    """As the environment says, or as this Python was made, or by its usual names."""
    if not (Path(sysconfig.get_path("include")) / "Python.h").exists():
        raise NotCompiledError("No Python.h (Debian has it in python3-dev)")
    named = (os.environ.get("CC"), sysconfig.get_config_var("CC"), "cc", "gcc", "clang")
    commands = [shlex.split(name) for name in named if name]
    if os.environ.get("CC"):
        commands = commands[:1]
    for command in commands:
        if shutil.which(command[0]):
            return command
    raise NotCompiledError("No C compiler")


def compile_one(compiler: list[str], source: Path, module: Path, *extra: str) -> None:
    """Under another name first, so that nobody ever loads half a module."""
    draft = module.with_name(f"._native-{secrets.token_hex(4)}.so")
    asked = shlex.split(os.environ.get("CFLAGS", "")) + shlex.split(os.environ.get("ARCHFLAGS", ""))
    headers = f"-I{sysconfig.get_path('include')}"
    command = [*compiler, *FLAGS, *HARDENED, *asked, *extra, headers, *AS_MODULE, str(source), "-o", str(draft)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.stderr.write(done.stderr)
            raise NotCompiledError(f"The C compiler did not compile {source.parent.name}/{source.name}")
        draft.replace(module)
    except OSError as error:
        raise NotCompiledError(f"The C compiler cannot be run ({error.strerror})") from None
    finally:
        draft.unlink(missing_ok=True)


def compile_strictly() -> Iterator[str]:
    """What the compiler objects to, elsewhere than in the tree. Nothing where there is no compiler."""
    try:
        compiler = find_compiler()
    except NotCompiledError:
        return
    with tempfile.TemporaryDirectory() as folder:
        for source in sources():
            try:
                compile_one(compiler, source, Path(folder) / source.parent.name, "-Werror")
            except NotCompiledError as error:
                yield str(error)


SANITIZED = ("-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def sanitize(folder: Path) -> list[str]:
    """Every module as FOLDER/ROOM.so; returns the libraries that have to be loaded before Python is."""
    compiler = find_compiler()
    folder.mkdir(parents=True, exist_ok=True)
    for source in sources():
        compile_one(compiler, source, folder / f"{source.parent.name}.so", "-U_FORTIFY_SOURCE", *SANITIZED)
    return [_library(compiler, name) for name in ("libasan.so", "libubsan.so")]


def _library(compiler: list[str], name: str) -> str:
    command = [*compiler, f"-print-file-name={name}"]
    path = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    if not Path(path).is_absolute():
        raise NotCompiledError(f"The C compiler has no {name}")
    return path


def main() -> int:
    parser = argparse.ArgumentParser(prog="python native.py", description="Compiles the inner loops written in C.")
    parser.add_argument("--strict", action="store_true", help="warnings are errors; nothing is left in the tree")
    parser.add_argument("--sanitize", metavar="FOLDER", type=Path, help="compile with AddressSanitizer and UBSan")
    given = parser.parse_args()
    if given.sanitize:
        try:
            sys.stdout.write(":".join(sanitize(given.sanitize)) + "\n")
        except NotCompiledError as error:
            sys.stderr.write(f"{error}.\n")
            return 1
        return 0
    if given.strict:
        problems = list(compile_strictly())
        sys.stderr.writelines(f"{problem}.\n" for problem in problems)
        return 1 if problems else 0
    try:
        build()
    except NotCompiledError as error:
        sys.stderr.write(f"{error}: {WITHOUT}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
