"""A trap as the database knows it: links of a domain that would never end, and the rule that says so."""

from dataclasses import dataclass
from datetime import datetime

ALL_OF_A_LOOK = ""
"""The template of a rule that goes by the look of a URL: it is about all of them."""


@dataclass(frozen=True, slots=True)
class Trap:
    id: int
    domain_id: int
    rule: str
    template: str
    """Which URLs it is about; `ALL_OF_A_LOOK`: those that break the rule."""
    pages: int
    """Pages that spoke for it."""
    found_at: datetime | None
    """None: only suspected."""
    is_released: bool
    """An operator lets its links through."""

    @property
    def place(self) -> tuple[str, str]:
        return self.rule, self.template

    @property
    def is_found(self) -> bool:
        return self.found_at is not None

    @property
    def blocks_links(self) -> bool:
        """Whether its links are left out."""
        return self.is_found and not self.is_released

    @property
    def has_pattern(self) -> bool:
        """Whether its URLs are those of a template."""
        return self.template.startswith("http")
