"""The nouns that travel the line. Plain frozen data; no I/O, no policy.

`line` has what one page carries from claim to record, `crawl` what a whole run was asked to do and did.
"""

from forager.records.crawl import DomainCount, OutcomeCount, Progress, RunEnd, RunReport, RunSpec, Scope
from forager.records.line import (
    Discovery,
    Fetched,
    FoundLink,
    Lease,
    Outcome,
    OutcomeKind,
    Reading,
    Selection,
    Target,
)

__all__ = [
    "Discovery",
    "DomainCount",
    "Fetched",
    "FoundLink",
    "Lease",
    "Outcome",
    "OutcomeCount",
    "OutcomeKind",
    "Progress",
    "Reading",
    "RunEnd",
    "RunReport",
    "RunSpec",
    "Scope",
    "Selection",
    "Target",
]
