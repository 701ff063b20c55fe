"""Parameter and row types of the proxy statements: named columns of bulk statements, records of rows."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple


class UseColumns(NamedTuple):
    """One element per proxy; the limits are for all of them."""

    id: Sequence[int]
    uses: Sequence[int]
    successes: Sequence[int]
    failures: Sequence[int]
    last_failures: Sequence[int]
    average_ms: Sequence[float | None]
    kept_share: Sequence[float]
    added_ms: Sequence[float]
    last_used_at: Sequence[datetime | None]
    last_success_at: Sequence[datetime | None]
    last_failure_at: Sequence[datetime | None]
    last_error: Sequence[str | None]
    most_failures: int
    first_probe_s: float


class PairUseColumns(NamedTuple):
    """One element per proxy and domain it was used for; the limits are for all of them."""

    domain_id: Sequence[int]
    proxy_id: Sequence[int]
    uses: Sequence[int]
    successes: Sequence[int]
    failures: Sequence[int]
    last_failures: Sequence[int]
    average_ms: Sequence[float | None]
    kept_share: Sequence[float]
    added_ms: Sequence[float]
    last_used_at: Sequence[datetime | None]
    last_success_at: Sequence[datetime | None]
    last_failure_at: Sequence[datetime | None]
    last_error: Sequence[str | None]
    most_failures: int
    first_probe_s: float


class ProxyState(NamedTuple):
    id: int
    is_active: bool
    consecutive_failures: int
    hour_requests: int
    hour_left_s: float
