"""What a crawler process hands back: which pages it had, what it read from them, and when. Written once, at its end."""

import json
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Self


@dataclass(slots=True)
class Ledger:
    """Kept by the crawler itself; a list and a few counters, so that keeping it costs next to nothing."""

    urls: list[str] = field(default_factory=list)
    titles: int = 0
    descriptions: int = 0
    links: int = 0
    first_request_at: float = 0.0
    first_page_at: float = 0.0
    last_done_at: float = 0.0

    def start(self) -> None:
        self.first_request_at = time.time()

    def note(self, url: str, title: str | None, description: str | None, links: int) -> None:
        self.urls.append(url)
        self.titles += bool(title)
        self.descriptions += bool(description)
        self.links += links
        self.last_done_at = time.time()
        self.first_page_at = self.first_page_at or self.last_done_at

    def add(self, other: "Ledger") -> None:
        """As if one crawler had done the work of both."""
        self.urls += other.urls
        self.titles += other.titles
        self.descriptions += other.descriptions
        self.links += other.links
        self.first_request_at = min(filter(None, (self.first_request_at, other.first_request_at)), default=0.0)
        self.first_page_at = min(filter(None, (self.first_page_at, other.first_page_at)), default=0.0)
        self.last_done_at = max(self.last_done_at, other.last_done_at)

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Self:
        return cls(**json.loads(path.read_text(encoding="utf-8")))
