"""The order of a run comes back from the database as it was given."""

import json
from dataclasses import asdict

from hypothesis import given
from hypothesis import strategies as st
from tests.builders import a_target

from forager.errors import ConnectError
from forager.frontier.models import Outcome, OutcomeKind
from forager.runs.models import RunSpec, Scope
from forager.stats.store import reason_of, spec_from_json

TEXTS = st.lists(st.text(max_size=10), max_size=3).map(tuple)
SPECS = st.builds(
    RunSpec,
    seeds=TEXTS,
    scope=st.sampled_from(Scope),
    include=TEXTS,
    exclude=TEXTS,
    max_depth=st.integers(0, 1000),
    max_pages=st.none() | st.integers(1),
    max_pages_per_domain=st.none() | st.integers(1),
    delay_s=st.none() | st.floats(0, 100),
)


@given(SPECS)
def test_an_order_survives_json(spec: RunSpec) -> None:
    assert spec_from_json(json.dumps(asdict(spec))) == spec


def test_a_visit_is_counted_by_its_status_or_else_by_its_error() -> None:
    target = a_target()
    assert reason_of(Outcome(target, OutcomeKind.SUCCESS, 200)) == "200"
    assert reason_of(Outcome(target, OutcomeKind.FAILED, error=ConnectError("x"))) == "connect_error"
    assert reason_of(Outcome(target, OutcomeKind.CANCELLED)) == "unknown"
