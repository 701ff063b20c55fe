"""The login of one leased domain: whether the session is valid, and what a page that asks for a login means. Pure.

    needs a login ──(logged in)──> valid ──(a page asks for a login after others came)──> needs a login
                                     └──(no page came since the login, and pages ask for one)──> failed

A page that asks for a login although others come is a page of its own kind, such as one for administrators: it is
recorded as it is. Logins are never repeated in a tight loop: one without a page between two ends the lease.
"""

from dataclasses import dataclass, field, replace
from enum import Enum, auto

from forager.errors import StatusError
from forager.fetch.login import LoginConfig
from forager.frontier.models import DomainFailure, Outcome
from forager.links.models import Selection
from forager.parsing.login import is_logout_url, is_same_page

MOST_WALLS = 3
"""Pages that ask for a login, without one between that did not, before a new login counts as useless."""
MOST_FUTILE = 3
"""Renewals for single pages in a lease; then two pages in a row have to ask for a login."""
LOGIN_LINK, LOGOUT_LINK = "login", "logout"
"""Reasons for dropping links."""


class Sign(Enum):
    """What a response says about the session."""

    WALL = auto()
    """It asks for a login."""
    FORBIDDEN = auto()
    """403: the session may have ended, or the page is not for this account."""
    FORM = auto()
    """A page with a password field: it may be part of the site."""


class Action(Enum):
    KEEP = auto()
    """The outcome is recorded as it is."""
    AGAIN = auto()
    """The visit belongs to an earlier session: the page is visited again."""
    LATER = auto()
    """The page is visited again after the others."""
    RENEW = auto()
    """The session ended: log in, then visit the page again."""
    FAIL = auto()
    """The login brings no access."""


@dataclass(slots=True)
class LoginState:
    config: LoginConfig
    is_logged_in: bool = False
    logins: int = 0
    """Logins in this lease; a visit remembers the number it began with."""
    _is_fresh: bool = True
    """No page came since the login."""
    _had_access: bool = False
    """A page came in this lease."""
    _walls: int = 0
    """Pages in a row that asked for a login."""
    _futile: int = 0
    """Renewals after which the page asked for a login again, and others did not."""
    _again: set[int] = field(default_factory=set)
    """Tasks that were put off because they asked for a login."""
    _forms_are_usual: bool = False
    """Pages show a password field also after a login."""

    def record_login(self) -> None:
        self.is_logged_in, self._is_fresh = True, True
        self.logins += 1
        self._walls = 0
        self._again.clear()

    def judge(self, outcome: Outcome, began_with: int) -> Action:
        """Returns what follows from a visit that began after `began_with` logins."""
        sign = find_sign(outcome)
        if sign is Sign.FORM and (self._is_fresh or self._forms_are_usual):
            sign, self._forms_are_usual = None, True
        if sign is None:
            if outcome.reading is not None and outcome.error is None:
                self._is_fresh, self._had_access, self._walls = False, True, 0
            return Action.KEEP
        if began_with < self.logins or not self.is_logged_in:
            return Action.AGAIN
        self._walls += 1
        task = outcome.target.task_id
        if self._is_fresh:
            return self._judge_fresh(sign, task)
        if task in self._again:
            self._futile += 1
            return Action.KEEP
        if self._futile >= MOST_FUTILE and (self._walls < 2 or sign is Sign.FORBIDDEN):
            return Action.KEEP
        self.is_logged_in = False
        return Action.RENEW

    def _judge_fresh(self, sign: Sign, task: int) -> Action:
        """No page came since the login: is it this page, or the login?"""
        if sign is Sign.FORBIDDEN:
            self._futile += self._had_access
            return Action.KEEP
        if task in self._again:  # nothing else was left to visit
            if self._had_access:
                self._futile += 1
                return Action.KEEP
            return Action.FAIL
        self._again.add(task)
        return Action.LATER if len(self._again) < MOST_WALLS or self._walls < MOST_WALLS else Action.FAIL

    def refuses(self, url: str) -> str | None:
        """Returns why a URL is never visited while a login is configured; None: it may be."""
        if is_logout_url(url):
            return LOGOUT_LINK
        return LOGIN_LINK if is_same_page(url, self.config.url) else None


def find_sign(outcome: Outcome) -> Sign | None:
    if isinstance(outcome.error, StatusError):
        match outcome.error.status_code:
            case 401:
                return Sign.WALL
            case 403 if not outcome.target.is_image:
                return Sign.FORBIDDEN
            case _:
                return None
    if outcome.trouble is DomainFailure.LOGIN_REQUIRED:
        return Sign.WALL
    if outcome.reading is not None and outcome.reading.has_password_form:
        return Sign.FORM
    return None


def filter_links(login: LoginState, selection: Selection) -> tuple[Selection, bool]:
    """Returns the selection without links that log in or out, which count as dropped, and whether one of them was a
    redirect to the login page."""
    reasons = {link.key: reason for link in selection.links if (reason := login.refuses(link.url)) is not None}
    if not reasons:
        return selection, False
    dropped = dict(selection.dropped)
    for reason in reasons.values():
        dropped[reason] = dropped.get(reason, 0) + 1
    kept = [link for link in selection.links if link.key not in reasons]
    is_wall = any(reasons.get(link.key) == LOGIN_LINK and link.rel == "redirect" for link in selection.links)
    return replace(selection, links=kept, dropped=dropped), is_wall
