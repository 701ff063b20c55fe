"""The lock files name a version of every dependency, and no address of an index."""

import re
import tomllib
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NAME = re.compile(r"^[\w.-]+")
OURS = {"forager-playground"}


def named(requirements: list[str]) -> set[str]:
    return {re.sub(r"[-_.]+", "-", found.group()).lower() for each in requirements if (found := NAME.match(each))}


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def lines_of(lock: str) -> list[str]:
    return (ROOT / lock).read_text(encoding="utf-8").splitlines()


def test_every_dependency_is_locked(project: dict[str, Any]) -> None:
    groups, extras = project["dependency-groups"], project["project"]["optional-dependencies"]
    wanted = [*project["project"]["dependencies"], *groups["dev"], *groups["peers"], *chain(*extras.values())]
    assert named(wanted) - named(lines_of("requirements.lock")) == OURS, "make lock"
    assert named(groups["generator"]) <= named(lines_of("requirements-generator.lock")), "make lock"


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-generator.lock"])
def test_a_lock_has_versions_and_nothing_else(lock: str) -> None:
    assert [line for line in lines_of(lock) if not re.match(r"[a-z\d-]+==[\w.+!]+( ; .+)?$", line)] == []
