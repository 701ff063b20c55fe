"""Decides what follows from a finished visit: a retry of the same task, or its end; and what that means for its site.

Outcomes that end a task go to the write buffer, tasks that are released to the abandoned tasks.
"""

import os
import random
from dataclasses import replace

from forager import clock
from forager.domains.store import Release
from forager.engine import retry_policy
from forager.engine.abandoned_tasks import AbandonedTasks
from forager.engine.config import FailureConfig
from forager.engine.domain_queue import DomainQueue, block
from forager.engine.request_history import EarlierRequests
from forager.engine.stop import StopRequest
from forager.engine.write_buffer import WriteBuffer
from forager.errors import BrokenError, LeaseLostError, UnavailableError, VisitError
from forager.frontier.models import DomainFailure, Outcome, Target
from forager.logs import log

TOLD_WAIT_S = 3.0
"""A shorter wait is over before an operator could read about it."""


class OutcomeHandler:
    def __init__(
        self,
        config: FailureConfig,
        longest_wait_s: float,
        buffer: WriteBuffer,
        abandoned: AbandonedTasks,
        stop: StopRequest,
    ) -> None:
        self._config = config
        self._longest_wait_s = longest_wait_s
        """A domain that has to wait longer than this is released."""
        self._buffer = buffer
        self._abandoned = abandoned
        self._stop = stop
        self._rng = random.Random(os.urandom(8))  # noqa: S311 (jitter, keeps no secret)

    def handle(self, queue: DomainQueue, outcome: Outcome) -> bool:
        """Retries the task or ends it; returns whether it ended."""
        error, task = outcome.error, outcome.target.task_id
        if isinstance(error, LeaseLostError):
            if not queue.is_lost and not queue.closing:
                queue.put_back(outcome.target)
            return False
        if isinstance(error, UnavailableError) or (error is not None and task in queue.called_off):
            self.requeue(queue, outcome)
            return False
        queue.update_health(outcome, clock.monotonic())
        earlier = queue.history.pop(task)
        if error is not None and self._retry_soon(queue, outcome, error, earlier):
            return False
        if earlier.pace_ms is not None:
            pace_ms = min(earlier.pace_ms, outcome.pace_ms or 0)
            outcome = replace(outcome, earlier_requests=earlier.moments, pace_ms=pace_ms)
        queue.end_task(outcome)
        self.end_task(queue, outcome)
        self._close_failing(queue, outcome, retry_policy.hold_s(error, len(earlier.moments) + 1) if error else 0.0)
        return True

    def put_back(self, queue: DomainQueue, outcome: Outcome, *, is_last: bool = False) -> None:
        """Repeats the visit when our own network is back, or the site has a session for us; the request that was sent
        stays on record."""
        if queue.is_lost or queue.closing:
            return
        self._save_request(queue, outcome)
        if outcome.target.task_id in queue.called_off:
            self._abandoned.add(queue, [outcome.target.task_id])
        elif is_last:
            queue.put_last(outcome.target)
        else:
            queue.put_back(outcome.target)

    def requeue(self, queue: DomainQueue, outcome: Outcome) -> None:
        """Reopens a task for any worker, because an operator paused or cancelled it or one of our own resources is
        missing. The request that was sent for it stays on record."""
        self._save_request(queue, outcome)
        if not queue.is_lost:
            self._abandoned.add(queue, [outcome.target.task_id])

    def _save_request(self, queue: DomainQueue, outcome: Outcome) -> None:
        """Saves a request that was sent, to be recorded with the next outcome of its task."""
        if outcome.waited_s is not None and outcome.requested_at is not None:
            moments = (*outcome.earlier_requests, outcome.requested_at)
            queue.history.add(outcome.target.task_id, moments, outcome.pace_ms or 0)

    def fail(self, queue: DomainQueue, target: Target, error: VisitError) -> None:
        """Ends a visit that did not start, or was not retried; the requests made for it stay on record."""
        made = queue.history.pop(target.task_id)
        outcome = Outcome(target, retry_policy.outcome_of(error), error=error)
        if made.moments:
            *earlier, last = made.moments
            outcome = replace(outcome, requested_at=last, earlier_requests=tuple(earlier), pace_ms=made.pace_ms)
        self.end_task(queue, outcome)

    def end_task(self, queue: DomainQueue, outcome: Outcome) -> None:
        """Ends the task; if it returned no page, a new task may be scheduled for later."""
        if outcome.error is not None:
            most = outcome.target.max_retries
            most = self._config.max_retries if most is None else most
            later_s = retry_policy.later_retry_s(outcome.error, outcome.target.retry_count, most)
            _log_failure(queue, outcome.target, outcome.error, later_s)
            outcome = replace(outcome, retry_in_s=later_s)
        if not queue.is_lost:
            queue.add_unrecorded()
            uses = queue.pool.take_pending() if queue.pool else ()
            self._buffer.add(replace(outcome, proxy_uses=uses) if uses else outcome)

    def _retry_soon(self, queue: DomainQueue, outcome: Outcome, error: VisitError, earlier: EarlierRequests) -> bool:
        now, tries = clock.monotonic(), len(earlier.moments) + 1
        hold_s = retry_policy.hold_s(error, tries)
        queue.hold(now, hold_s, _asked_to_wait(hold_s, outcome) if hold_s >= TOLD_WAIT_S else None)
        quick_s = retry_policy.quick_retry_s(error, tries, self._rng, outcome.target.retry_count)
        if quick_s is None or queue.pace.wait_s(now) > self._longest_wait_s or queue.breaker.is_open:
            return False  # the whole domain waits longer: this attempt is recorded, a new task follows later
        if self._stop.asked or queue.closing:
            return False
        assert outcome.requested_at is not None
        task, pace_ms = outcome.target.task_id, outcome.pace_ms or 0
        if earlier.pace_ms is not None:
            queue.history.add(task, earlier.moments, earlier.pace_ms)
        queue.history.add(task, (outcome.requested_at,), pace_ms)
        queue.delay(outcome.target, now + max(quick_s, hold_s))
        return True

    def _close_failing(self, queue: DomainQueue, outcome: Outcome, hold_s: float) -> None:
        """Blocks a site that keeps rejecting requests or not responding; releases one that asks for, or needs, a long
        cooldown."""
        if queue.closing:
            return
        pause_s = queue.breaker.wait_s(clock.monotonic())
        if self._should_block(queue):
            queue.close(block(queue, self._config.cooldowns))
        elif hold_s > self._longest_wait_s:
            queue.close(Release(queue.lease, wait_s=hold_s, rest_s=hold_s, reason=_asked_to_wait(hold_s, outcome)))
        elif pause_s > self._longest_wait_s:
            reason = queue.breaker_reason(outcome.error)
            queue.close(Release(queue.lease, wait_s=pause_s, rest_s=pause_s, reason=reason))

    def _should_block(self, queue: DomainQueue) -> bool:
        if queue.streak.code is None:
            return False
        is_patient = queue.streak.code in {DomainFailure.UNREACHABLE, DomainFailure.RATE_LIMITED}
        return queue.streak.count >= (self._config.max_unreachable if is_patient else self._config.max_domain_errors)


def _asked_to_wait(hold_s: float, outcome: Outcome) -> str:
    return f"the server asked us to wait {hold_s:.0f} s (answer {outcome.status_code})"


def _log_failure(queue: DomainQueue, target: Target, error: VisitError, later_s: float | None) -> None:
    """Logs a failed visit in one line; a bug of ours is logged at any level."""
    write = log().error if isinstance(error, BrokenError) else log().info
    write(
        "visit failed",
        action="visit.failed",
        task=target.task_id,
        domain=queue.lease.domain,
        url=target.url,
        code=error.code,
        error=str(error),
        again_in_s=later_s,
    )
