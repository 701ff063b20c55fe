"""What the bench tells a crawler process: seeds, how to keep its state, where to write the ledger."""

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self


@dataclass(frozen=True, slots=True)
class PeerOrder:
    seeds: list[str]
    mode: str
    per_site: int
    """Requests open at once to one site."""
    ledger: str
    state: str = ""
    """A folder or a database, by mode."""
    processes: int = 1
    """Between which the sites are divided."""

    @property
    def scope(self) -> tuple[str, ...]:
        """How the URLs of pages begin that are to be crawled: as the seeds, which are roots of sites."""
        return tuple(self.seeds)

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def from_command_line(cls) -> Self:
        return cls(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
