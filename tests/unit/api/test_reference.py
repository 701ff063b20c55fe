"""The reference page says what the API is, and the dashboard was made for what it is."""

from pathlib import Path

from forager.api.app import create_app
from forager.api.reference import as_text, write
from forager.config.settings import Settings

PAGE = Path(__file__).parents[3] / "docs/reference/api.md"
DOCUMENT = Path(__file__).parents[3] / "dashboard/openapi.json"


def test_the_page_is_current() -> None:
    written = write(create_app(Settings()).openapi())
    assert PAGE.read_text(encoding="utf-8") == written, "python -m forager.api.reference > docs/reference/api.md"


def test_the_dashboard_knows_the_document() -> None:
    written = as_text(create_app(Settings()).openapi())
    assert DOCUMENT.read_text(encoding="utf-8") == written, (
        "python -m forager.api.reference document > dashboard/openapi.json && python dashboard/build.py types"
    )
