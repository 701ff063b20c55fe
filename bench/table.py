"""Numbers for people: medians, tables as text or Markdown, figures and whether they are reached. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from bench.run import Run

HEADINGS = (
    "crawler",
    "stores",
    "pages",
    "pages/s",
    "Forager is",
    "CPU ms/page",
    "of it PostgreSQL",
    "memory MB (PSS)",
    "first page s",
)


def middle(runs: Sequence[Run]) -> Run:
    """One run that stands for several: the median of every number by itself."""
    postgres = [run.postgres_us for run in runs if run.postgres_us is not None]
    return Run(
        crawler=runs[0].crawler,
        pages=runs[0].pages,
        pages_per_s=median(run.pages_per_s for run in runs),
        first_page_s=median(run.first_page_s for run in runs),
        wall_s=median(run.wall_s for run in runs),
        own_us=median(run.own_us for run in runs),
        postgres_us=median(postgres) if postgres else None,
        peak_mb=median(run.peak_mb for run in runs),
        largest_mb=median(run.largest_mb for run in runs),
        pss_mb=median(run.pss_mb for run in runs),
    )


def describe(run: Run, stores: str, reference: Run | None) -> tuple[str, ...]:
    return (
        run.crawler,
        stores,
        f"{run.pages:,}",
        describe_rate(run.pages_per_s),
        f"{reference.pages_per_s / run.pages_per_s:.2f} ×" if reference else "–",
        f"{run.cpu_ms:,.2f}",
        "–" if run.postgres_us is None else f"{run.postgres_us / 1000:,.2f}",
        f"{run.pss_mb or run.peak_mb:,.0f}",
        f"{run.first_page_s:.1f}",
    )


def describe_rate(pages_per_s: float) -> str:
    return f"{pages_per_s:,.0f}" if pages_per_s >= 10 else f"{pages_per_s:.1f}"


def as_text(headings: Sequence[str], rows: Sequence[Sequence[str]], *, words: int) -> str:
    """Columns of equal width; the first `words` columns hold words, the others numbers."""
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]

    def line(row: Sequence[str]) -> str:
        left = [cell.ljust(width) for cell, width in zip(row[:words], widths, strict=False)]
        right = [cell.rjust(width) for cell, width in zip(row[words:], widths[words:], strict=True)]
        return "  ".join(left + right)

    return "\n".join(map(line, (headings, *rows)))


def as_markdown(headings: Sequence[str], rows: Sequence[Sequence[str]], *, words: int) -> str:
    ruler = ["---"] * words + ["---:"] * (len(headings) - words)
    return "\n".join("| " + " | ".join(row) + " |" for row in (headings, ruler, *rows))


@dataclass(frozen=True, slots=True)
class Figure:
    """One number we want to reach, and whether we did."""

    what: str
    value: float
    bound: float
    is_floor: bool
    """True: at least `bound`. False: at most."""
    unit: str

    @property
    def is_reached(self) -> bool:
        return self.value >= self.bound if self.is_floor else self.value <= self.bound

    def __str__(self) -> str:
        verdict, sign = "PASS" if self.is_reached else "FAIL", "≥" if self.is_floor else "≤"
        return f"{verdict}  {self.what}: {self.value:,.2f} {self.unit} (wanted {sign} {self.bound:g} {self.unit})"
