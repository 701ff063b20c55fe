"""Explains the terms of a domain's score. Pure; the formula is the SQL function `score_terms`.

The terms are points that are added up, higher is sooner. The score decides among domains of the same urgency and round.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple


class ScoreTerm(NamedTuple):
    """One term of a score: its points, and what they are made of."""

    name: str
    points: float
    unit: str
    """The rule: what a point is given for, and the limit."""
    explanation: str
    """What it is in this domain."""


UNITS = {
    "seed_rank": "1,000 points for rank 1 of a seed list, 143 less for each ten times lower rank; 0 without a rank",
    "boost": "the points that an operator added (priority_boost)",
    "new_pages": "2 points for each page that waits for its first visit, up to 1,000",
    "staleness": "5 points for each day since the last visit, up to 450",
    "image_yield": "100 points for each stored image per page, up to 500; only where images are downloaded",
    "recent_errors": "minus 300 points if all of about the last 50 visits failed; halved for each week without a visit",
}
LABELS = {
    "seed_rank": "seed rank",
    "boost": "boost",
    "new_pages": "new pages",
    "staleness": "staleness",
    "image_yield": "images",
    "recent_errors": "recent errors",
}


def explain_terms(row: Mapping[str, Any], at: datetime) -> list[ScoreTerm]:
    """Explains the terms of a domain's row, with the term columns `score_…` of this moment."""
    idle_days = max(0.0, (at - row["idle_since"]).total_seconds() / 86_400)
    policy = row["images_policy"]
    made_of = {
        "seed_rank": f"rank {row['seed_rank']:,}" if row["seed_rank"] else "in no ranked list",
        "boost": "set by an operator" if row["priority_boost"] else "none",
        "new_pages": f"{row['frontier_size']:,} waiting",
        "staleness": f"no visit for {idle_days:,.1f} days",
        "image_yield": f"{row['image_yield_rate']:.2f} stored per page"
        + (f", but its policy is {policy}" if policy in {"none", "found"} else ""),
        "recent_errors": f"{row['recent_error_rate']:.0%} of the recent visits failed",
    }
    return [ScoreTerm(name, row[f"score_{name}"], UNITS[name], told) for name, told in made_of.items()]
