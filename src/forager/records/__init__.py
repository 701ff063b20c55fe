"""The nouns that travel the line. Plain frozen data; no I/O, no policy.

`line` has what one page carries from claim to record, `link_columns` the links it has, `proxy` the way it took,
`image` what it shows, `trap` what would never end, `pause` why a worker starts nothing, `crawl` what a whole run was
asked to do and did.
"""

from forager.records.body import RawHeads, StoredBody
from forager.records.crawl import (
    ALL_KNOWN,
    STANDING,
    DomainCount,
    Holder,
    OutcomeCount,
    Progress,
    RunEnd,
    RunReport,
    RunSpec,
    Scope,
)
from forager.records.image import FoundImage, ImageFile, ImagePolicy, ImageStatus, Sighting
from forager.records.link_columns import LinkColumns
from forager.records.pause import Pause, PauseReason, describe_pause
from forager.records.pipeline import (
    BodyCoding,
    Discovery,
    Fetched,
    FoundLink,
    Keywords,
    Lease,
    Outcome,
    OutcomeKind,
    Past,
    Reading,
    Rendering,
    Selection,
    Target,
    Trouble,
)
from forager.records.proxy import Passage, Proxy, ProxyUse
from forager.records.trap import ALL_OF_A_LOOK, Trap

__all__ = [
    "ALL_KNOWN",
    "ALL_OF_A_LOOK",
    "STANDING",
    "BodyCoding",
    "Discovery",
    "DomainCount",
    "Fetched",
    "FoundImage",
    "FoundLink",
    "Holder",
    "ImageFile",
    "ImagePolicy",
    "ImageStatus",
    "Keywords",
    "Lease",
    "LinkColumns",
    "Outcome",
    "OutcomeCount",
    "OutcomeKind",
    "Passage",
    "Past",
    "Pause",
    "PauseReason",
    "Progress",
    "Proxy",
    "ProxyUse",
    "RawHeads",
    "Reading",
    "Rendering",
    "RunEnd",
    "RunReport",
    "RunSpec",
    "Scope",
    "Selection",
    "Sighting",
    "StoredBody",
    "Target",
    "Trap",
    "Trouble",
    "describe_pause",
]
