"""docs/reference/urls.md says what the code does."""

import re
from pathlib import Path

import pytest

from forager.errors import BadUrlError
from forager.urls.domain import domain_of, registrable
from forager.urls.normalize import normalize
from forager.urls.policy import DEFAULT_POLICY

PAGE = (Path(__file__).parents[3] / "docs/reference/urls.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def rows(title: str, columns: int) -> list[list[str]]:
    """The code spans in the last columns of a section's table."""
    cells = [line.strip("|").split("|") for line in section(title).splitlines() if line.startswith("| ")][1:]
    assert cells, f"{title} has no table"
    return [[cell.strip().strip("`") for cell in row[-columns:]] for row in cells]


@pytest.mark.parametrize(("written", "normal"), rows("What is changed", 2))
def test_what_is_changed(written: str, normal: str) -> None:
    assert normalize(written) == normal != written or written == normal == "http://shop.example:8080/"


@pytest.mark.parametrize("url", [row[0] for row in rows("What is kept", 1)])
def test_what_is_kept(url: str) -> None:
    assert normalize(url) == url


@pytest.mark.parametrize("url", [row[0] for row in rows("What is refused", 1)])
def test_what_is_refused(url: str) -> None:
    with pytest.raises(BadUrlError):
        normalize(url)


@pytest.mark.parametrize(("url", "domain", "short"), rows("Domains", 3))
def test_domains(url: str, domain: str, short: str) -> None:
    assert domain_of(url) == domain
    assert registrable(domain) == short


def test_the_page_lists_exactly_the_tracking_parameters() -> None:
    listed = re.findall(r"`([^`]+)`", section("Tracking parameters"))
    assert sorted(listed) == sorted([*DEFAULT_POLICY.tracking_prefixes, *DEFAULT_POLICY.tracking_names])


def test_the_page_names_version_and_limit() -> None:
    assert f"policy version {DEFAULT_POLICY.version}." in PAGE
    assert f"longer than {DEFAULT_POLICY.max_bytes:,} bytes" in PAGE
