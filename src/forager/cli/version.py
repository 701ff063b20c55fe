"""`forager --version`: the version, and the commit it was built or is run from, where that is known."""

from pathlib import Path

from forager import __version__

PACKAGE = Path(__file__).parents[1]
BUILT_FROM = "commit.txt"
"""In a package that was built from a clone: the commit. `hatch_build.py` writes it."""
SHOWN = 8


def describe_version(package: Path = PACKAGE) -> str:
    """Returns `0.1.0 (commit 1a2b3c4d)`; only the version where no commit is known."""
    commit = find_commit(package)
    return f"{__version__} (commit {commit[:SHOWN]})" if commit else __version__


def find_commit(package: Path = PACKAGE) -> str | None:
    """Returns the commit of the clone that the package is in, or was built from. Reads two or three small files and
    starts no `git`."""
    try:
        if (written := package / BUILT_FROM).is_file():
            return _checked(written.read_text(encoding="ascii"))
        clone = package.parents[1]
        is_ours = (clone / "pyproject.toml").is_file() and package == clone / "src" / "forager"
        return read_head(clone / ".git") if is_ours else None
    except (OSError, UnicodeDecodeError):
        return None


def read_head(git: Path) -> str | None:
    """Returns the commit that is checked out, from a clone's `.git`; in a worktree that is a file."""
    if git.is_file():
        git = (git.parent / git.read_text(encoding="utf-8").removeprefix("gitdir:").strip()).resolve()
    if not git.is_dir():
        return None
    head = (git / "HEAD").read_text(encoding="utf-8").strip()
    if not head.startswith("ref:"):
        return _checked(head)
    name = head.removeprefix("ref:").strip()
    common = git / "commondir"
    shared = (git / common.read_text(encoding="utf-8").strip()).resolve() if common.is_file() else git
    for folder in (git, shared):
        if (folder / name).is_file():
            return _checked((folder / name).read_text(encoding="ascii"))
    packed = shared / "packed-refs"
    lines = packed.read_text(encoding="utf-8").splitlines() if packed.is_file() else []
    return next((_checked(line.split(" ", 1)[0]) for line in lines if line.endswith(f" {name}")), None)


def _checked(text: str) -> str | None:
    commit = text.strip().lower()
    return commit if len(commit) >= SHOWN and set(commit) <= set("0123456789abcdef") else None
