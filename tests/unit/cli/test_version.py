"""The version names the commit of a clone, also in a worktree, and of a package that was built from one."""

import subprocess
from pathlib import Path

import pytest

from forager import __version__
from forager.cli.version import BUILT_FROM, describe_version, find_commit, read_head

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    return subprocess.check_output(["git", "-C", str(folder), *identity, *arguments], text=True).strip()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    folder = tmp_path / "clone"
    (folder / "src/forager").mkdir(parents=True)
    (folder / "pyproject.toml").touch()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "x")
    return folder


def test_a_clone(clone: Path) -> None:
    commit = git(clone, "rev-parse", "HEAD")
    assert find_commit(clone / "src/forager") == commit
    assert describe_version(clone / "src/forager") == f"{__version__} (commit {commit[:8]})"


def test_packed_references_and_a_commit_without_a_branch(clone: Path) -> None:
    commit = git(clone, "rev-parse", "HEAD")
    git(clone, "pack-refs", "--all")
    assert read_head(clone / ".git") == commit
    git(clone, "checkout", "-q", "--detach")
    assert read_head(clone / ".git") == commit


def test_a_worktree(clone: Path, tmp_path: Path) -> None:
    git(clone, "worktree", "add", "-q", "-b", "other", str(tmp_path / "other"))
    assert read_head(tmp_path / "other/.git") == git(clone, "rev-parse", "HEAD")


def test_a_package_that_was_built_from_a_clone(tmp_path: Path) -> None:
    (tmp_path / BUILT_FROM).write_text(COMMIT + "\n")
    assert find_commit(tmp_path) == COMMIT


def test_a_package_of_unknown_origin(tmp_path: Path) -> None:
    package = tmp_path / "lib/site-packages/forager"
    package.mkdir(parents=True)
    assert describe_version(package) == __version__
    (package / BUILT_FROM).write_text("not a commit")
    assert describe_version(package) == __version__


def test_the_repository_of_another_project_is_not_ours(clone: Path) -> None:
    package = clone / "vendor/forager"
    package.mkdir(parents=True)
    assert find_commit(package) is None
