"""A crawler trap as stored in the database: links of a domain that would never end, and the rule that detected them."""

from dataclasses import dataclass
from datetime import datetime

ALL_OF_A_LOOK = ""
"""The template of a rule that judges the form of a URL: it applies to all URLs."""


@dataclass(frozen=True, slots=True)
class Trap:
    id: int
    domain_id: int
    rule: str
    template: str
    """Which URLs it applies to; `ALL_OF_A_LOOK`: those that break the rule."""
    pages: int
    """Pages that support it."""
    found_at: datetime | None
    """None: only a candidate."""
    is_released: bool
    """An operator allows its links."""

    @property
    def place(self) -> tuple[str, str]:
        return self.rule, self.template

    @property
    def is_found(self) -> bool:
        return self.found_at is not None

    @property
    def blocks_links(self) -> bool:
        """Whether its links are skipped."""
        return self.is_found and not self.is_released

    @property
    def has_pattern(self) -> bool:
        """Whether it applies to the URLs of a template."""
        return self.template.startswith("http")
