"""The gates of a domain, with their texts. `claim_conditions` in the database decides whether the claim would take the
domain; this module never recomputes that. It adds the run, the delay, the breaker, the failure streak and the priority.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from forager.db.types import Row
from forager.domains.access import read_robots_agent
from forager.domains.score_terms import LABELS, explain_terms
from forager.engine.models import PauseReason, describe_pause
from forager.explain.conditions import (
    FetchPolicy,
    Gate,
    Prediction,
    after,
    crawl_command,
    domain_command,
    format_time,
    latest_opening,
    never,
    refresh_command,
    resume_command,
    span,
    things,
)
from forager.frontier.models import DomainFailure
from forager.politeness.no_delay_hosts import has_no_delay
from forager.politeness.throttle import LEAST_DELAY_S
from forager.robots import rules as robots
from forager.runs.models import RunSpec

MOST_BEFORE = 1000
SOON_GIVEN_UP = frozenset({DomainFailure.UNREACHABLE, DomainFailure.RATE_LIMITED})
"""Failures of which a few in a row suffice."""


@dataclass(frozen=True, slots=True)
class DomainSnapshot:
    """The database rows of one domain, from one snapshot."""

    row: Row
    gates: Mapping[str, tuple[bool, datetime | None]]
    frontier: Any
    origins: Sequence[Any]
    spec: RunSpec | None
    """The specification of the run that works on it."""

    @property
    def now(self) -> datetime:
        moment: datetime = self.row["asked_at"]
        return moment

    @property
    def pages_left(self) -> int | None:
        """Returns the pages left within the limits of its run; None if there is no limit. A page budget that renews is
        no limit."""
        row = self.row
        left = [] if row["budget_left"] is None or row["budget_until"] else [row["budget_left"]]
        left += [] if row["max_pages"] is None else [row["max_pages"] - row["pages_claimed"]]
        return max(0, min(left)) if left else None

    @property
    def override(self) -> str | None:
        """Returns by whose order its robots.txt is not obeyed; None: it is."""
        row = self.row
        if row["override_at"] is None:
            return None
        why = f": {row['override_reason']}" if row["override_reason"] else ""
        return f"by the operator's order of {row['override_at']:%Y-%m-%d} ({row['override_by']}{why})"

    @property
    def chosen(self) -> dict[str, Any]:
        """Returns the crawl settings that were chosen for it and its profile."""
        found: dict[str, Any] = json.loads(self.row["chosen"] or "{}")
        return found

    @property
    def allow_networks(self) -> tuple[str, ...]:
        """Returns the networks that may be dialled besides public addresses: those allowed for the domain and for its
        run."""
        return (*(self.row["allow_networks"] or ()), *(self.spec.allow_networks if self.spec else ()))

    @property
    def is_held(self) -> bool:
        """Returns whether a live worker holds it."""
        return bool(self.row["is_held"])


def list_checks(facts: DomainSnapshot, manners: FetchPolicy) -> tuple[Gate, ...]:
    return (
        _known(facts),
        _state(facts),
        _cooldown(facts),
        _switch(facts),
        _window(facts),
        _budget(facts),
        _lease(facts, manners),
        _frontier(facts),
        _run(facts),
        *_label(facts),
        *_pause(facts),
        _check_delay(facts, manners),
        _breaker(facts, manners),
        *_proxies(facts),
        _check_failures(facts, manners),
        _priority(facts),
    )


def predict(gates: Sequence[Gate], facts: DomainSnapshot) -> Prediction:
    """Returns what all gates together mean for the domain's next visit."""
    by_name = {gate.name: gate for gate in gates}
    if facts.is_held and by_name["switch"].is_open:
        if pause := by_name.get("pause"):
            return Prediction("at", pause.sentence, facts.now)
        return Prediction(
            "now", by_name["lease"].sentence, latest_opening([by_name["pace"], by_name["breaker"]], facts.now)
        )
    state = by_name["state"]
    if state.is_closed and not state.is_permanent:
        # The action that returns it to pending also adds work.
        gates = [gate for gate in gates if gate.name != "frontier"]
    opens_at = latest_opening(gates, facts.now)
    if stuck := next((gate for gate in gates if gate.is_permanent), None):
        waits = f", and it could not be before {format_time(opens_at, facts.now)}" if opens_at > facts.now else ""
        return replace(never(stuck), because=stuck.sentence + waits)
    closed = [gate for gate in gates if gate.is_closed]
    because = ", ".join(dict.fromkeys(gate.sentence for gate in closed)) or "every gate is open"
    return Prediction("at", because, opens_at)


# The claim's own gates -----------------------------------------------------------------------------------------------


def _known(facts: DomainSnapshot) -> Gate:
    row = facts.row
    known = f"{things(row['pages_discovered'], 'page')} known since {format_time(row['first_seen_at'], facts.now)}"
    return Gate("known", True, f"{known}, source {row['source']}")


def _state(facts: DomainSnapshot) -> Gate:
    row = facts.row
    is_open, opens_at = facts.gates["state"]
    if is_open:
        return Gate("state", True, row["status"])
    if row["status"] == "exhausted":
        left = "" if opens_at else ", and it is not visited again"
        return Gate(
            "state", False, f"exhausted: nothing is left to visit{left}", opens_at, refresh_command(row["name"])
        )
    reason = f"{row['status']} ({row['block_reason_code']})" + (
        f": {row['block_reason']}" if row["block_reason"] else ""
    )
    if opens_at is None:
        reason += (
            f", for good after {things(row['blocked_returns'], 'return')}" if row["blocked_returns"] else ", for good"
        )
    return Gate("state", False, reason, opens_at, domain_command(row["name"], "reset"))


def _cooldown(facts: DomainSnapshot) -> Gate:
    is_open, opens_at = facts.gates["cooldown"]
    if not is_open:
        name = facts.row["name"]
        is_done = facts.row["status"] == "exhausted"
        remedy = refresh_command(name) if is_done else domain_command(name, "reset")
        return Gate("cooldown", False, "it rests", opens_at, remedy)
    return Gate("cooldown", True, f"over since {format_time(opens_at, facts.now)}" if opens_at else "none")


def _switch(facts: DomainSnapshot) -> Gate:
    if facts.gates["switch"][0]:
        return Gate("switch", True, "on")
    return Gate("switch", False, "an operator paused it", remedy=domain_command(facts.row["name"], "resume"))


def _window(facts: DomainSnapshot) -> Gate:
    row = facts.row
    is_open, opens_at = facts.gates["window"]
    if row["maintenance_start"] is None:
        return Gate("window", is_open, "no maintenance window", opens_at)
    hours = f"maintenance from {row['maintenance_start']:%H:%M} to {row['maintenance_end']:%H:%M} {row['time_zone']}"
    return Gate("window", is_open, f"{hours}, {'not now' if is_open else 'now'}", opens_at)


def _budget(facts: DomainSnapshot) -> Gate:
    row = facts.row
    is_open, _ = facts.gates["budget"]
    limits = [limit for limit in (row["max_pages_per_run"], row["max_pages_per_domain"]) if limit is not None]
    sentence = budget_sentence(row, min(limits)) if limits else "no page budget"
    if is_open:
        return Gate("budget", True, sentence)
    return Gate(
        "budget", False, sentence, row["budget_until"], remedy=f"forager domain {row['name']} set --max-pages N"
    )


def budget_sentence(row: Row, limit: int) -> str:
    """Returns how much of a page budget was taken, and when it renews."""
    taken = limit - row["budget_left"]
    period = {"day": "today", "week": "this week"}.get(row["budget_period"], f"of run {row['run_id']}")
    renews = f", renews {format_time(row['budget_until'], row['asked_at'])}" if row["budget_until"] else ""
    revisits = "revisits included" if row["counts_revisits"] else "revisits are not counted"
    return f"{taken:,} of {limit:,} pages {period} taken{renews}; {revisits}"


def _lease(facts: DomainSnapshot, manners: FetchPolicy) -> Gate:
    row = facts.row
    is_open, expires_at = facts.gates["lease"]
    if is_open:
        return Gate("lease", True, "nobody holds it")
    holder = f"worker {row['claimed_by']}"
    if row["host"] is not None:
        holder += f" (pid {row['pid']} on {row['host'].partition('/')[0]})"
    if facts.is_held:
        return Gate("lease", False, f"{holder} holds it", expires_at)
    # The next worker that checks takes it over from a worker that died, or that has been silent for too long.
    silent_at = after(row["heartbeat_at"], manners.dead_after_s) if row["heartbeat_at"] else facts.now
    return Gate("lease", False, f"{holder} held it and is gone", min(at for at in (expires_at, silent_at) if at))


def _frontier(facts: DomainSnapshot) -> Gate:
    is_open, opens_at = facts.gates["frontier"]
    left = facts.frontier
    parts = [
        f"{things(left['discovered'], 'page')} never visited",
        f"{things(left['due'], 'task')} due",
        f"{left['later']:,} later",
        f"{left['locked']:,} under way",
        f"{left['paused']:,} paused",
    ]
    sentence = ", ".join(part for part in parts if not part.startswith("0 "))
    if sentence:
        return Gate("frontier", is_open, sentence, opens_at)
    waiting = facts.row["frontier_size"]
    if waiting:
        return Gate("frontier", is_open, f"{things(waiting, 'page')} waiting, none in reach of its run", opens_at)
    return Gate("frontier", is_open, "nothing is left to visit", opens_at)


# What else has to be -------------------------------------------------------------------------------------------------


def _run(facts: DomainSnapshot) -> Gate:
    row = facts.row
    if row["run_id"] is None or facts.spec is None:
        return Gate("run", False, "no run has asked for it", remedy=crawl_command(row["base_url"]))
    if row["max_pages"] is not None and row["pages_claimed"] >= row["max_pages"]:
        spent = f"run {row['run_id']} has taken all of its {things(row['max_pages'], 'page')}"
        return Gate("run", False, spent, remedy=crawl_command(row["base_url"]))
    if row["run_workers"]:
        return Gate("run", True, f"run {row['run_id']} works on it with {things(row['run_workers'], 'worker')}")
    state = f"run {row['run_id']} {'has no worker' if row['run_status'] == 'running' else 'is ' + row['run_status']}"
    is_done = row["status"] == "exhausted"
    remedy = refresh_command(row["name"]) if is_done else resume_command(row["run_id"], facts.spec)
    return Gate("run", False, f"nobody works on it now ({state})", remedy=remedy)


def _label(facts: DomainSnapshot) -> tuple[Gate, ...]:
    """Returns a gate only for a domain that not every worker may claim."""
    row = facts.row
    label = row["worker_label"]
    if not label:
        return ()
    if row["label_workers"]:
        return (Gate("label", True, f"{things(row['label_workers'], 'worker')} of its run with the label {label}"),)
    run = f" --run {row['run_id']}" if row["run_id"] is not None and row["run_keeper"] != "standing" else ""
    sentence = f"it wants a worker with the label {label}, and none of its run lives"
    return (Gate("label", False, sentence, remedy=f"forager worker{run} --label {label}"),)


def _pause(facts: DomainSnapshot) -> tuple[Gate, ...]:
    """Returns a gate only if the worker that holds the domain, or one of its run, is paused for a fault of our own. The
    worker resumes by itself when the fault is gone, so the gate has no known end and needs no remedy."""
    row = facts.row
    if row["pause_reason"] is None:
        return ()
    is_spared = row["content_policy"] == "signals" and row["images_policy"] != "download"
    if row["pause_reason"] == PauseReason.STORE_UNAVAILABLE and is_spared:
        return ()  # it stores nothing, so it is not paused
    since, says = format_time(row["paused_since"], facts.now), describe_pause(row["pause_reason"], row["pause_detail"])
    sentence = f"worker {row['paused_worker']} is paused since {since}: {says}; it resumes by itself"
    return (Gate("pause", False, sentence, facts.now),)


def resolve_delay(facts: DomainSnapshot, manners: FetchPolicy) -> tuple[float, str]:
    """Returns the seconds between two requests, and what sets them; computed as a worker does."""
    row = facts.row
    if has_no_delay(row["name"], manners.unpaced_hosts):
        return 0.0, "an unpaced host"
    if row["crawl_delay_s"] is not None:
        delay_s, source = row["crawl_delay_s"], "set for the domain"
    elif facts.spec is not None and facts.spec.delay_s is not None:
        delay_s, source = facts.spec.delay_s, f"asked for by run {row['run_id']}"
    else:
        delay_s, source = manners.delay_s, "setting politeness.delay"
    if delay_s < LEAST_DELAY_S:
        delay_s, source = LEAST_DELAY_S, f"the least there is; {delay_s:g} s {source}"
    agent = read_robots_agent(facts.row["user_agent"], manners.robots_agent)
    asked_s = max((_robots_delay(copy, agent) for copy in facts.origins), default=0.0)
    if asked_s > delay_s:
        delay_s, source = asked_s, "robots.txt asks for it"
    extra_s = row["pace_extra_s"] if manners.adaptive_pace else 0.0
    if not extra_s:
        return delay_s, source
    return delay_s + extra_s, f"{source}, and {span(extra_s)} more because the server is slow"


def _robots_delay(copy: Any, agent: str) -> float:
    if not copy["is_valid"] or not copy["robots_txt"]:
        return 0.0
    return robots.parse(copy["robots_txt"]).rules_for(agent).crawl_delay_s or 0.0


def _check_delay(facts: DomainSnapshot, manners: FetchPolicy) -> Gate:
    delay_s, source = resolve_delay(facts, manners)
    sentence = f"{span(delay_s)} between requests ({source})" if delay_s else f"no distance between requests ({source})"
    if facts.is_held and facts.row["has_new_settings"]:
        sentence += "; its settings were changed just now, and its worker takes them within a second"
    next_at = facts.row["next_allowed_at"]
    if next_at is None or next_at <= facts.now or not delay_s:
        return Gate("pace", True, sentence)
    return Gate("pace", False, sentence, next_at)


def _breaker(facts: DomainSnapshot, manners: FetchPolicy) -> Gate:
    """Returns the gate for the short pause after failed requests."""
    row = facts.row
    failures = f"{things(row['breaker_failures'], 'failed request')} in a row"
    match row["breaker_state"]:
        case "closed" if row["breaker_failures"]:
            return Gate("breaker", True, f"closed: {failures}, at {manners.breaker_failures} it opens")
        case "closed":
            return Gate("breaker", True, "closed: no failed requests in a row")
        case "half_open":
            return Gate("breaker", True, f"half-open after {failures}: single requests are tried")
    opens_at = after(row["breaker_opened_at"], manners.breaker_reset_s)
    sentence = f"open since {format_time(row['breaker_opened_at'], facts.now)} after {failures}"
    if opens_at <= facts.now:
        return Gate("breaker", True, f"{sentence}: the next request is a try")
    return Gate("breaker", False, sentence, opens_at, domain_command(row["name"], "reset --breaker"))


def _proxies(facts: DomainSnapshot) -> tuple[Gate, ...]:
    """Returns a gate only for a domain that has a proxy pool, its own or the default one, or should have one."""
    row = facts.row
    if row["proxy_mode"] == "never":
        has_some = row["proxies"] or row["pool_emptied_at"]
        return (Gate("proxies", True, "asked directly, by its setting proxy=never"),) if has_some else ()
    if not row["proxies"]:
        if row["proxy_mode"] == "always":
            sentence = "it has no proxy, the default pool is empty, and it is never asked directly (proxy=always)"
            return (Gate("proxies", False, sentence, None, f"forager proxies assign {row['name']} ID"),)
        if row["pool_emptied_at"]:
            when = format_time(row["pool_emptied_at"], facts.now)
            sentence = f"asked directly: its pool lost its last proxy {when}, and the default pool is empty"
            return (Gate("proxies", True, sentence, None, domain_command(row["name"], "set --proxy always")),)
        return ()
    pool = f"{row['proxies']} proxies" if row["proxies"] > 1 else "1 proxy"
    if not row["has_own_proxies"]:
        pool = f"the default pool of {pool}"
    if row["proxies_on"]:
        return (Gate("proxies", True, f"asked through {pool}, {row['proxies_on']} on"),)
    remedy = "forager proxies probe" if row["proxy_back_at"] else f"forager proxies --domain {row['name']}"
    return (Gate("proxies", False, f"asked through {pool}, none on", row["proxy_back_at"], remedy),)


def _check_failures(facts: DomainSnapshot, manners: FetchPolicy) -> Gate:
    """Returns the gate for pages that failed in one way in a row, which leads to a cooldown of days."""
    row = facts.row
    count, code = row["consecutive_error_count"], row["error_streak_code"]
    if not count:
        return Gate("streak", True, "no errors in a row")
    most = manners.max_unreachable if code in SOON_GIVEN_UP else manners.max_domain_errors
    kind = f" ({code})" if code else ""
    return Gate("streak", True, f"{things(count, 'error')} in a row{kind}, at {most} it is left alone")


def _priority(facts: DomainSnapshot) -> Gate:
    row = facts.row
    terms = explain_terms(dict(row), facts.now)
    told = ", ".join(
        f"{LABELS[term.name]} {term.points:+,.0f}: {term.explanation}" for term in terms if round(term.points)
    )
    score, counted = sum(term.points for term in terms), row["priority_score"]
    sentence = f"score {score:,.0f}" + (f" ({told})" if told else "")
    if round(score) != round(counted):
        sentence += f", {counted:,.0f} when it was last counted"
    if row["urgency"] == 2:
        since = format_time(row["urgent_at"], facts.now)
        sentence = f"an urgent task is due since {since}, so it comes first; {sentence}"
    elif row["urgency"]:
        sentence = f"boosted by an operator, so it comes before others; {sentence}"
    if row["run_id"] is None:
        return Gate("priority", None, sentence)
    if row["domains_before"] >= MOST_BEFORE:
        place = f"{MOST_BEFORE:,} domains of its run or more come first"
    else:
        place = (
            f"{things(row['domains_before'], 'domain')} of its run first"
            if row["domains_before"]
            else "first of its run"
        )
    return Gate("priority", None, f"{sentence}, round {row['round']}, {place}")
