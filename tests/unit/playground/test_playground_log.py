from pathlib import Path

import pytest

from forager.errors import UsageError
from forager_playground import (
    RequestLog,
    Visit,
    forbidden_hits,
    make_answer_key,
    most_open_at_once,
    read_log,
    requests_per_path,
    smallest_gap_s,
    visits_of,
)

HOST = "127.0.0.11:8000"


def a_visit(target: str = "/", started_s: float = 0.0, ended_s: float | None = None, host: str = HOST) -> Visit:
    ended_s = started_s if ended_s is None else ended_s
    return Visit("strict", host, target, "GET", 200, started_s, ended_s, 1, "test")


def test_requests_are_counted_by_url() -> None:
    counts = requests_per_path([a_visit("/a"), a_visit("/a"), a_visit("/b"), a_visit("/a", host="127.0.0.12:8000")])
    assert counts == {f"http://{HOST}/a": 2, f"http://{HOST}/b": 1, "http://127.0.0.12:8000/a": 1}


def test_the_smallest_gap_is_of_one_host_and_by_start() -> None:
    log = [a_visit("/b", 5.0, 9.0), a_visit("/a", 2.0, 10.0), a_visit("/c", 9.0), a_visit("/x", 5.1, host="other")]
    assert smallest_gap_s(log, HOST) == 3.0
    assert smallest_gap_s(log, "other") == float("inf")


def test_a_request_that_is_read_late_makes_no_gap_smaller() -> None:
    log = [a_visit("/a", 2.0)._replace(late_s=0.4), a_visit("/b", 2.6)]
    assert smallest_gap_s(log, HOST) == pytest.approx(1.0)


def test_robots_can_be_left_out_of_the_gap() -> None:
    log = [a_visit("/robots.txt", 1.0), a_visit("/", 1.1), a_visit("/a", 3.1)]
    assert smallest_gap_s(log, HOST) == pytest.approx(0.1)
    assert smallest_gap_s(log, HOST, with_robots=False) == pytest.approx(2.0)
    assert [visit.target for visit in visits_of(log, HOST, with_robots=False)] == ["/", "/a"]


def test_most_open_at_once_counts_overlaps() -> None:
    log = [
        a_visit("/a", 0, 4),
        a_visit("/b", 1, 2),
        a_visit("/c", 1.5, 3),
        a_visit("/d", 5, 6),
        a_visit("/e", 1, 9, "other"),
    ]
    assert most_open_at_once(log, HOST) == 3
    assert most_open_at_once([], HOST) == 0


def test_forbidden_hits_are_named() -> None:
    key = make_answer_key(["strict"], port=8000)
    hits = forbidden_hits([a_visit("/"), a_visit("/private/cellar"), a_visit("/private/open-day")], key)
    assert [hit.target for hit in hits] == ["/private/cellar"]


def test_a_log_file_with_a_torn_last_line_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    log = RequestLog(path)
    log.add(a_visit("/a"))
    log.add(a_visit("/b"))
    assert read_log(path) == list(log)  # before it is closed: every line is flushed
    assert len(log) == 2
    log.close()
    path.write_text(path.read_text() + '{"site": "str')
    assert [visit.target for visit in read_log(path)] == ["/a", "/b"]


def test_a_log_that_keeps_nothing_still_counts() -> None:
    log = RequestLog(keeps_visits=False)
    log.add(a_visit())
    assert len(log) == 1
    assert list(log) == []
    log.clear()
    assert len(log) == 0


def test_a_log_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        RequestLog(tmp_path / "no" / "folder.jsonl")
