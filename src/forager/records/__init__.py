"""The nouns that travel the line. Plain frozen data; no I/O, no policy.

`line` has what one page carries from claim to record, `crawl` what a whole run was asked to do.
"""

from forager.records.crawl import Scope, RunSpec
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
    "Fetched",
    "FoundLink",
    "Lease",
    "Outcome",
    "OutcomeKind",
    "Reading",
    "RunSpec",
    "Scope",
    "Selection",
    "Target",
]
