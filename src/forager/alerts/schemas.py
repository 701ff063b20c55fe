"""Alerts, as answers show them."""

from datetime import datetime
from typing import Literal

from forager.api.types import Row

Severity = Literal["warning", "critical"]
AlertStatus = Literal["open", "acknowledged", "resolved"]


class AlertRow(Row):
    id: int
    rule: str
    subject: str
    severity: Severity
    message: str
    value: float | None
    raised_at: datetime
    seen_at: datetime | None
    acknowledged_at: datetime | None
    acknowledged_by: str | None
    resolved_at: datetime | None
    resolved_by: str | None
    status: AlertStatus
    is_muted: bool


class AlertEvent(Row):
    what: str
    at: datetime
    by: str | None
    note: str | None


class Alert(AlertRow):
    """One alert, with all that happened to it."""

    says: str | None
    runbook: str | None
    events: list[AlertEvent]


class AlertRule(Row):
    rule: str
    severity: Severity
    hold_s: float
    quiet_s: float
    says: str


class Unmuted(Row):
    rule: str
    subject: str


class Target(Row):
    id: int
    url: str
    severity: Severity
    is_active: bool
    created_by: str
    created_at: datetime


class DeletedTarget(Row):
    id: int
    url: str
