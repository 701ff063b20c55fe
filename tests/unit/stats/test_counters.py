"""What was done, added up: exactly, and with labels from short lists only."""

from hypothesis import given
from hypothesis import strategies as st
from tests.builders import a_success, a_target

from forager.errors import ConnectError, StatusError
from forager.frontier.models import Outcome, OutcomeKind
from forager.stats.counters import CODES, LATENCY_LABELS, LATENCY_S, SIZE_LABELS, CounterMap, count_batch


def count(
    *done: Outcome, drops: dict[str, int] | None = None, seen: int = 0, learned: int = 0
) -> dict[tuple[str, str], float]:
    return count_batch(done, drops=drops or {}, seen=seen, learned=learned).amounts


def test_a_batch_is_counted_by_outcome_status_and_error() -> None:
    good = a_success(a_target(), waited_s=0.02, read_s=0.004)
    gone = Outcome(a_target(), OutcomeKind.BLOCKED_4XX, 404, StatusError(404), waited_s=0.02)
    lost = Outcome(a_target(), OutcomeKind.FAILED, error=ConnectError("nobody"))
    assert count(good, gone, lost, drops={"scope": 3}, seen=9, learned=4) == {
        ("visits", "success"): 1,
        ("visits", "blocked_4xx"): 1,
        ("visits", "failed"): 1,
        ("status", "200"): 1,
        ("status", "404"): 1,
        ("failures", "http_status"): 1,
        ("failures", "connect_error"): 1,
        ("fetch_s", "0.025"): 2,
        ("fetch_s.sum", ""): 0.04,
        ("read_s", "0.005"): 1,
        ("read_s.sum", ""): 0.004,
        ("batch_pages", "5"): 1,
        ("batch_pages.sum", ""): 3,
        ("bytes", ""): 100,
        ("links_seen", ""): 9,
        ("pages_learned", ""): 4,
        ("links_dropped", "scope"): 3,
    }


def test_images_are_not_visits_to_pages() -> None:
    counted = count(a_success(a_target(is_image=True)))
    assert counted["images", "success"] == 1
    assert not any(metric in {"visits", "status"} for metric, _ in counted)


@given(st.integers(-5, 2000))
def test_a_status_code_from_the_web_makes_no_label_of_its_own(code: int) -> None:
    counted = count(Outcome(a_target(), OutcomeKind.FAILED, code, ConnectError("x")))
    labels = {label for metric, label in counted if metric == "status"}
    assert labels <= CODES | {"other"}


@given(st.floats(0, 1e6), st.integers(1, 5000))
def test_every_time_and_size_has_a_bucket_that_holds_it(seconds: float, pages: int) -> None:
    tally = CounterMap()
    tally.time("fetch", seconds)
    tally.size(pages)
    [bucket] = [label for metric, label in tally.amounts if metric == "fetch_s"]
    assert bucket in LATENCY_LABELS
    assert seconds <= float(bucket)
    assert bucket == LATENCY_LABELS[0] or seconds > LATENCY_S[LATENCY_LABELS.index(bucket) - 1]
    assert {label for metric, label in tally.amounts if metric == "batch_pages"} <= set(SIZE_LABELS)


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 99))),
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 99))),
)
def test_what_was_written_is_forgotten_and_what_came_meanwhile_stays(
    before: list[tuple[str, int]], meanwhile: list[tuple[str, int]]
) -> None:
    tally, alone = CounterMap(), CounterMap()
    for metric, amount in before:
        tally.add(metric, amount=amount)
    told = tally.copy()
    for metric, amount in meanwhile:
        tally.add(metric, amount=amount)
        alone.add(metric, amount=amount)
    tally.forget(told)
    assert tally.amounts == alone.amounts


def test_rows_come_in_the_order_of_their_keys() -> None:
    tally = CounterMap()
    for metric in ("b", "a"):
        tally.add(metric, "y")
        tally.add(metric, "x")
    assert [row[:2] for row in tally.rows()] == [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
