"""A session that ended is renewed once for the page that shows it; a login that brings nothing is not repeated."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.builders import a_reading, a_target

from forager.engine.login_state import MOST_WALLS, Action, LoginState, filter_links
from forager.errors import StatusError
from forager.fetch.login import LoginConfig
from forager.frontier.models import DomainFailure, Outcome, OutcomeKind
from forager.links.models import Discovery, Selection
from forager.parsing.login import is_same_page

CONFIG = LoginConfig("https://a.example/login?lang=de", {"user": "a", "pw": "s3cret"})


def logged_in() -> LoginState:
    state = LoginState(CONFIG)
    state.record_login()
    return state


def a_page(task: int = 1, **more: Any) -> Outcome:
    return Outcome(a_target(task=task), OutcomeKind.SUCCESS, 200, reading=a_reading(**more))


def a_wall(task: int = 1) -> Outcome:
    return Outcome(a_target(task=task), OutcomeKind.SUCCESS, 302, trouble=DomainFailure.LOGIN_REQUIRED)


def a_status(code: int, task: int = 1) -> Outcome:
    return Outcome(a_target(task=task), OutcomeKind.BLOCKED_4XX, code, StatusError(code))


def test_a_session_that_ended_is_renewed_and_the_page_visited_again() -> None:
    state = logged_in()
    assert state.judge(a_page(), 1) is Action.KEEP
    for outcome in (a_wall(2), a_status(401, 3), a_status(403, 4), a_page(5, has_password_form=True)):
        assert state.judge(outcome, state.logins) is Action.RENEW
        assert not state.is_logged_in
        state.record_login()
        assert state.judge(a_page(outcome.target.task_id), state.logins) is Action.KEEP


def test_visits_of_the_old_session_are_repeated_without_another_login() -> None:
    state = logged_in()
    state.judge(a_page(), 1)
    assert state.judge(a_wall(2), 1) is Action.RENEW
    assert state.judge(a_wall(3), 1) is Action.AGAIN
    state.record_login()
    assert state.judge(a_wall(4), 1) is Action.AGAIN
    assert state.is_logged_in


def test_a_login_that_opens_no_page_fails() -> None:
    state = logged_in()
    found = [state.judge(a_wall(task), 1) for task in range(MOST_WALLS)]
    assert found == [Action.LATER] * (MOST_WALLS - 1) + [Action.FAIL]
    alone = logged_in()
    assert [alone.judge(a_wall(), 1) for _ in range(2)] == [Action.LATER, Action.FAIL]


def test_a_page_for_others_does_not_end_the_crawl() -> None:
    state = logged_in()
    state.judge(a_page(), 1)
    assert state.judge(a_status(403, 2), 1) is Action.RENEW
    state.record_login()
    assert state.judge(a_status(403, 2), 2) is Action.KEEP
    state.judge(a_page(), 2)
    assert state.judge(a_wall(3), 2) is Action.RENEW
    state.record_login()
    assert state.judge(a_wall(3), 3) is Action.LATER
    assert state.judge(a_wall(3), 3) is Action.KEEP  # nothing else was left


def test_a_site_with_a_password_field_on_every_page() -> None:
    state = logged_in()
    assert {state.judge(a_page(task, has_password_form=True), 1) for task in range(50)} == {Action.KEEP}


@given(
    st.lists(st.tuples(st.sampled_from(["page", "wall", "401", "403", "form", "404"]), st.integers(0, 5)), max_size=80)
)
def test_logins_are_never_repeated_without_a_page_between(events: list[tuple[str, int]]) -> None:
    state, had_page = logged_in(), False
    for kind, task in events:
        outcome = {"page": a_page, "wall": a_wall}.get(kind, a_page)(task)
        if kind.isdigit():
            outcome = a_status(int(kind), task)
        elif kind == "form":
            outcome = a_page(task, has_password_form=True)
        action = state.judge(outcome, state.logins)
        had_page |= kind in {"page", "form"}
        if action is Action.FAIL:
            return
        if action is Action.RENEW:
            assert had_page
            had_page = False
            state.record_login()


def test_links_that_log_in_or_out_are_dropped_and_counted() -> None:
    urls = ["https://a.example/1", "https://a.example/logout", "http://www.a.example/login?lang=de&next=/1"]
    links = [Discovery(url, url.encode(), "a.example", 1, 0, "", "a") for url in urls]
    kept, is_wall = filter_links(logged_in(), Selection(links, {"scope": 2}))
    assert [link.url for link in kept.links] == urls[:1]
    assert kept.dropped == {"scope": 2, "logout": 1, "login": 1}
    assert not is_wall
    _, is_wall = filter_links(logged_in(), Selection([links[2]._replace(rel="redirect")]))
    assert is_wall


def test_the_login_page_is_known_whatever_it_returns_to() -> None:
    assert is_same_page("https://a.example/login/?next=%2F", "https://a.example/login")
    assert not is_same_page("https://a.example/index.php?page=news", "https://a.example/index.php?page=login")


def test_nothing_shows_the_fields() -> None:
    assert "s3cret" not in repr(logged_in())
