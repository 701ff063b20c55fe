"""Alerts do not flap: whatever the numbers do, one is open at most, and it was bad, and then quiet, for long enough."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from forager.alerts.evaluate import plan_of
from forager.alerts.rules import RULES, Finding
from forager.alerts.store import Key
from forager.alerts.watch import LONGEST_GAP, Level, Move, Watch, step

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
HOLD, QUIET = timedelta(minutes=5), timedelta(minutes=3)
MINUTE = timedelta(minutes=1)
looks = st.lists(st.tuples(st.sampled_from(Level), st.integers(1, 900)), max_size=60)


def follow(levels: list[tuple[Level, timedelta]], watch: Watch = Watch()) -> list[tuple[datetime, Move]]:  # noqa: B008
    moves, now = [], BEGIN
    for level, later in levels:
        now += later
        watch, move = step(watch, level, now, hold=HOLD, quiet=QUIET)
        if move:
            moves.append((now, move))
    return moves


def every_minute(*levels: Level) -> list[tuple[Level, timedelta]]:
    return [(level, MINUTE) for level in levels]


def test_it_is_raised_when_it_was_bad_for_long_enough_and_not_before() -> None:
    assert follow(every_minute(*[Level.BAD] * 5)) == []
    assert follow(every_minute(*[Level.BAD] * 6)) == [(BEGIN + 6 * MINUTE, Move.RAISE)]
    assert follow(every_minute(*[Level.BAD] * 60)) == [(BEGIN + 6 * MINUTE, Move.RAISE)]


def test_a_better_moment_begins_the_wait_anew() -> None:
    for better in (Level.GOOD, Level.BETWEEN):
        assert follow(every_minute(*[Level.BAD] * 5, better, *[Level.BAD] * 5)) == []


def test_it_is_resolved_when_it_was_quiet_for_long_enough_and_between_is_not_quiet() -> None:
    is_open = Watch(is_open=True)
    assert follow(every_minute(*[Level.GOOD] * 3), is_open) == []
    assert follow(every_minute(*[Level.GOOD] * 4), is_open) == [(BEGIN + 4 * MINUTE, Move.RESOLVE)]
    trembling = every_minute(*[Level.GOOD, Level.GOOD, Level.GOOD, Level.BETWEEN] * 10)
    assert follow(trembling, is_open) == []


def test_what_nobody_looked_at_is_not_known_to_have_been_bad() -> None:
    assert follow([(Level.BAD, MINUTE), (Level.BAD, LONGEST_GAP + MINUTE)]) == []


@given(looks)
def test_raises_and_resolves_alternate_and_keep_their_times(given: list[tuple[Level, int]]) -> None:
    levels = [(level, timedelta(seconds=seconds)) for level, seconds in given]
    moves = follow(levels)
    assert [move for _, move in moves] == [Move.RAISE, Move.RESOLVE] * (len(moves) // 2) + [Move.RAISE] * (
        len(moves) % 2
    )
    times, now = [], BEGIN
    for level, later in levels:
        now += later
        times.append((now, level))
    for at, move in moves:
        wanted, span = (Level.BAD, HOLD) if move is Move.RAISE else (Level.GOOD, QUIET)
        run = _run_before(times, at, wanted)
        assert run[-1] - run[0] >= span
        assert all(later - earlier <= LONGEST_GAP for earlier, later in pairwise(run))


def _run_before(times: list[tuple[datetime, Level]], until: datetime, wanted: Level) -> list[datetime]:
    """The moments up to one, without a break, at which the level was so."""
    run: list[datetime] = []
    for at, level in times:
        run = [*run, at] if level is wanted and (not run or at - run[-1] <= LONGEST_GAP) else [at] * (level is wanted)
        if at == until:
            return run
    raise AssertionError(until)


@given(st.lists(st.dictionaries(st.sampled_from(["a", "b"]), st.sampled_from([Level.BAD, Level.BETWEEN])), max_size=40))
def test_a_subject_never_has_two_open_alerts(rounds: list[dict[str, Level]]) -> None:
    watched: dict[Key, tuple[Watch, int | None]] = {}
    open_now: dict[Key, int] = {}
    for number, found in enumerate(rounds):
        findings = [Finding("disk_low", subject, level, 1, "") for subject, level in found.items()]
        plan = plan_of(findings, watched, BEGIN + number * timedelta(seconds=30))
        for alert in plan.resolves:
            open_now = {key: each for key, each in open_now.items() if each != alert}
        for finding in plan.raises:
            key = (finding.rule, finding.subject)
            assert key not in open_now
            open_now[key] = number * 10 + len(open_now)
        watched = {key: (watch, open_now.get(key)) for key, watch in plan.watches.items()}
        assert {key for key, (watch, _) in watched.items() if watch.is_open} == set(open_now)


def test_every_rule_waits_before_it_is_quiet_again_or_is_told_at_once() -> None:
    for rule in RULES.values():
        assert rule.quiet > timedelta() or rule.name == "database_away"
