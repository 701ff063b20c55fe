"""The outcomes of tasks; apart from `models.py`, so that `forager --help` can list them without loading settings."""

from enum import StrEnum


class OutcomeKind(StrEnum):
    """How a task ended; the values of the database's `task_outcome`."""

    SUCCESS = "success"
    FAILED = "failed"
    TIMEOUT = "timeout"
    BLOCKED_ROBOTS = "blocked_robots"
    BLOCKED_4XX = "blocked_4xx"
    BLOCKED_5XX = "blocked_5xx"
    CANCELLED = "cancelled"


LOGIN_WALL = "login_wall"
"""Flag of a page that is a login form in place of the requested page."""
