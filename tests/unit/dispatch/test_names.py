"""The names the requirements ask for, and that instances and runs on one broker do not meet."""

from forager.dispatch.names import Names


def test_the_run_that_never_ends_has_the_three_names() -> None:
    assert Names().of_run(None) == ("priority_queue", "crawl_queue", "parse_queue")


def test_other_runs_have_queues_of_their_own_and_leave_replays_to_workers_that_stay() -> None:
    assert Names().of_run(12) == ("priority_queue.12", "crawl_queue.12")


def test_hints_are_sent_to_three_kinds_of_queues() -> None:
    names = Names("blue.")
    sent_to = (*names.of_run(7), *names.of_run(None))
    assert all(names.are_hints(queue) for queue in sent_to)
    for other in (names.dead, names.exchange, "crawl_queue", "blue.crawl_queue.", "blue.crawl_queue.1\n", "", None, 3):
        assert not names.are_hints(other)


def test_prefixes_keep_instances_apart_and_kinds_together() -> None:
    names = Names("blue.")
    assert names.crawl(None, is_urgent=True) == "blue.priority_queue"
    assert {names.kind(name) for name in (*names.of_run(7), *names.of_run(None), names.dead)} == {
        "priority_queue",
        "crawl_queue",
        "parse_queue",
        "dead_letters",
    }
