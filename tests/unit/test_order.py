"""The order of the tests themselves."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.order import ROOT, spread


class Item:
    def __init__(self, folder: str, number: int, group: str | None = None) -> None:
        self.path: Path = ROOT / folder / "test_it.py"
        self.number = number
        self.group = group

    def get_closest_marker(self, name: str) -> Any:
        return self.group if name == "xdist_group" else None

    def __repr__(self) -> str:
        return f"{self.path.parent.relative_to(ROOT)} {self.number}"


def some(folder: str, count: int, group: str | None = None) -> list[Any]:
    return [Item(folder, number, group) for number in range(count)]


def test_each_test_is_run_once_and_files_stay_together() -> None:
    items = [
        *some("acceptance", 3),
        *some("integration/browser", 2, "browser"),
        *some("integration/explain", 10),
        *some("unit/queue", 10),
        *some("web", 4),
    ]
    ordered = spread(items)
    assert sorted(map(repr, ordered)) == sorted(map(repr, items))
    assert ordered[:2] == items[3:5]
    for folder in ("acceptance", "integration/explain", "unit/queue", "web"):
        numbers = [item.number for item in ordered if item.path.is_relative_to(ROOT / folder)]
        assert numbers == sorted(numbers)
    places = [place for place, item in enumerate(ordered) if "web" in item.path.parts]
    assert places == list(range(places[0], places[0] + 4))
    assert places[0] > 5  # behind a part of what is short
    assert places[-1] < len(ordered) - 10  # and before the last quarter of it


@pytest.mark.parametrize("items", [[], some("unit", 3), some("acceptance", 3)])
def test_one_kind_alone_stays_as_it_is(items: list[Any]) -> None:
    assert spread(items) == items


GROUPED = """
import pytest

@pytest.mark.xdist_group("some group")
@pytest.mark.parametrize("who", ["a@b"])
def test_grouped(who): assert False

def test_plain(): assert False

def test_good(): pass
"""


def test_what_failed_in_a_group_is_found_again(tmp_path: Path) -> None:
    """`make test` runs once more what failed, alone. What it does not find would pass."""
    (tmp_path / "conftest.py").write_text("from tests.conftest import pytest_runtest_logreport\n")
    (tmp_path / "test_it.py").write_text(GROUPED)
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {ROOT.parent}\n")
    alone = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # dozens of plugins are loaded else, by each process
    pytest_run = [sys.executable, "-m", "pytest", "-q", "--no-header"]
    first = [*pytest_run, "-p", "xdist", "-n", "1", "--dist", "loadgroup"]
    subprocess.run(first, cwd=tmp_path, env=alone, check=False, stdout=subprocess.PIPE)
    again = [*pytest_run, "--noconftest", "--last-failed", "--last-failed-no-failures", "none", "--collect-only"]
    said = subprocess.run(again, cwd=tmp_path, env=alone, check=False, stdout=subprocess.PIPE, text=True).stdout
    assert [line for line in said.splitlines() if "::" in line] == [
        "test_it.py::test_grouped[a@b]",
        "test_it.py::test_plain",
    ]
