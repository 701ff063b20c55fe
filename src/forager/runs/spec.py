"""Builds the specification of a crawl from what was asked for, for the command line and for Python."""

from collections.abc import Mapping, Sequence
from typing import Any

from forager.runs.models import ALL_KNOWN, RunSpec, Scope


def build_spec(
    seeds: Sequence[str],
    chosen: Mapping[str, Any],
    *,
    scope: Scope | None,
    default_depth: int,
    max_pages: int | None = None,
    allow_networks: Sequence[str] = (),
    bare: Sequence[str] = (),
    is_known: bool = False,
) -> RunSpec:
    """Returns the specification. `chosen` are crawl settings by name, which the sites keep and this run follows;
    `is_known`: it takes all domains that are known, without seeds of its own."""
    per_run = chosen.get("max_pages") if chosen.get("max_pages_per", "run") == "run" else None
    return RunSpec(
        seeds=tuple(seeds),
        scope=scope or Scope.HOST,
        is_scope_given=scope is not None,
        settings=dict(chosen),
        include=tuple(chosen.get("include", ())),
        exclude=tuple(chosen.get("exclude", ())),
        max_depth=chosen.get("max_depth", default_depth),
        max_pages=max_pages,
        max_pages_per_domain=per_run,
        delay_s=chosen.get("delay"),
        seeds_total=0 if is_known else None,
        seeds_digest=ALL_KNOWN if is_known else None,
        allow_networks=tuple(allow_networks),
        bare=tuple(bare),
    )
