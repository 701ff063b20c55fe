"""The page about the states of a domain says what the program does: states, moves, reasons, cooldowns."""

import re
from pathlib import Path

from forager.config.settings import FIELDS
from forager.domains.status import MOVES, DomainStatus
from forager.frontier.models import DomainFailure

PAGE = (Path(__file__).parents[3] / "docs/reference/domain-states.md").read_text(encoding="utf-8")
DAY_S = 86_400


def rows(heading: str) -> list[list[str]]:
    """Cells of the first table under a heading."""
    section = PAGE.partition(heading)[2]
    table = re.search(r"^\|.*(?:\n\|.*)+", section, re.MULTILINE)
    assert table is not None
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.group().splitlines()[2:]]


def test_every_state_is_explained() -> None:
    assert [row[0].strip("`") for row in rows("# The states")] == list(DomainStatus)


def test_the_table_of_moves_is_that_of_the_program() -> None:
    named = [(row[0].strip("`"), row[1].strip("`")) for row in rows("## Moves")]
    assert len(named) == len(set(named))
    assert set(named) == {(now, then) for now, after in MOVES.items() for then in after}


def test_every_kind_of_trouble_has_its_row() -> None:
    """No answer is told by how it failed."""
    codes = {code for row in rows("## Reasons") for code in re.findall(r"`(\w+)`", row[0])}
    assert set(DomainFailure) - {DomainFailure.UNREACHABLE} <= codes
    assert {"robots_denied", "operator", "dns_error"} <= codes


def test_the_cooldowns_are_the_defaults_of_their_settings() -> None:
    told = {row[4].strip("`"): row[3] for row in rows("## Reasons") if row[4] != "–"}
    fields = {path: field.default for path, field in FIELDS.items() if path.startswith("cooldown.")}
    assert told.pop("cooldown.unreachable").startswith("5 min, then 15 min, 1 h, 6 h, 1 d, at most 7 d")
    assert fields.pop("cooldown.unreachable") == 7 * DAY_S
    assert told == {name: f"{default / DAY_S:g} days" for name, default in fields.items()}
