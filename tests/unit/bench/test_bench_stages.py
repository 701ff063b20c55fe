"""What reading costs by module, and how the stages are shown."""

import time
from types import ModuleType

import pytest
from bench.measure import Process, sum_levels
from bench.reading import Shares, is_stage, timed_reading
from bench.report import show_stages
from bench.stages import Stage, describe_reading, make_answers, make_reader

from forager.config.loader import load
from forager.parsing import page as reader
from forager_playground import lifelike_sites


def spin(seconds: float) -> None:
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def test_a_function_is_charged_without_what_it_calls() -> None:
    shares = Shares()
    inner = shares.time("inner", lambda: spin(0.02))

    def call_inner() -> None:
        spin(0.005)
        inner()

    outer = shares.time("outer", call_inner)
    outer()
    assert shares.seconds["inner"] >= 0.02
    assert shares.seconds["outer"] < shares.seconds["inner"]


def test_a_function_that_fails_is_charged_too() -> None:
    shares = Shares()

    def fail() -> None:
        raise ValueError

    with pytest.raises(ValueError):
        shares.time("fails", fail)()
    assert "fails" in shares.seconds


def test_reading_is_divided_by_module_and_put_right_afterwards() -> None:
    before = dict(vars(reader))
    answers = make_answers(lifelike_sites(1, 3))
    read = make_reader(load({}, {}))
    with timed_reading() as shares:
        for answer in answers.values():
            assert read(answer).title
    assert shares.seconds["tree"] > 0
    assert len(shares.seconds) >= 3
    assert dict(vars(reader)) == before


def test_only_functions_of_other_modules_of_the_reader_are_stages() -> None:
    module = ModuleType("forager.parsing.page")
    assert not is_stage(spin, module)
    assert not is_stage("text", module)
    assert not is_stage(reader.read, module)


def test_small_shares_are_shown_together() -> None:
    shares = Shares()
    shares.seconds = {"tree": 0.6, "links": 0.396, "head": 0.002, "login": 0.002}
    stages = describe_reading(shares, pages=1000)
    assert [(stage.name, round(stage.own_us)) for stage in stages] == [
        ("· tree", 600),
        ("· links", 396),
        ("· others", 4),
    ]


def test_parts_are_shown_but_not_counted_twice() -> None:
    stages = [
        Stage("read", "", 1000.0, 0.0),
        Stage("· tree", "", 700.0, 0.0, is_part=True),
        Stage("record", "", 100.0, 200.0),
        Stage("workers", "", 5000.0, 0.0, is_part=True),
    ]
    rows = show_stages("lifelike", stages, is_markdown=True).splitlines()
    assert "| together |  | 1,100 | 200 |" in rows
    assert rows.index("| together |  | 1,100 | 200 |") < rows.index("| workers |  | 5,000 | 0 |")


def test_cpu_is_summed_by_depth() -> None:
    tree = [
        Process(1, 0, "a", 1.0, 0),
        Process(2, 1, "b", 2.0, 0),
        Process(3, 2, "c", 4.0, 0),
        Process(4, 3, "d", 8.0, 0),
    ]
    assert sum_levels(tree) == (1.0, 2.0, 12.0)
