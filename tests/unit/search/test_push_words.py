"""What an answer of the search server means for a document, and how portions are cut."""

from typing import Any

import pytest

from forager.search import bulk_index as push
from forager.search.bulk_index import Action, Key, Sent

KEY = Key("page", 7)


def judged(status: int, kind: str | None = None, reason: str = "", cause: str | None = None) -> Sent:
    sent = Sent(version=10)
    error: dict[str, Any] | None = {"type": kind, "reason": reason} if kind else None
    if error and cause:
        error["caused_by"] = {"reason": cause}
    push._classify(Action(KEY, "b1", b""), {"status": status, **({"error": error} if error else {})}, sent)
    return sent


def test_taken_or_deleted_before() -> None:
    for status in (200, 201, 404):
        sent = judged(status)
        assert (sent.later, sent.refused, sent.missing) == (set(), {}, set())


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (429, "rejected_execution_exception"),
        (503, "unavailable_shards_exception"),
        (403, "cluster_block_exception"),
    ],
)
def test_a_server_that_has_no_room_now_is_asked_later(status: int, kind: str) -> None:
    sent = judged(status, kind, "not now")
    assert (sent.later, sent.refused) == ({KEY}, {})


def test_a_document_that_does_not_fit_is_refused_with_the_cause() -> None:
    sent = judged(400, "mapper_parsing_exception", "failed to parse field [price]", cause="For input string: x")
    assert sent.refused == {KEY: "mapper_parsing_exception: failed to parse field [price]: For input string: x"}


def test_a_missing_index_is_nobodys_document() -> None:
    sent = judged(404, "index_not_found_exception", "no such index")
    assert (sent.missing, sent.refused) == ({"b1"}, {})


def test_a_higher_version_there_is_one_of_another_life() -> None:
    reason = "[7]: version conflict, current version [512] is higher or equal to the one provided [10]"
    sent = judged(409, "version_conflict_engine_exception", reason)
    assert (sent.highest, sent.later) == (512, {KEY})
    assert judged(409, "version_conflict_engine_exception", "said otherwise").highest > 10


def test_portions_are_cut_by_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(push, "MOST_BYTES", 10)
    actions = [Action(KEY, "b1", b"x" * size) for size in (4, 4, 4, 30, 1)]
    assert [[len(action.lines) for action in part] for part in push._parts(actions)] == [[4, 4], [4], [30], [1]]
