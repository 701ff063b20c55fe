"""The reference page says what the API is."""

from pathlib import Path

from forager.api.app import create_app
from forager.api.reference import write
from forager.settings import Settings

PAGE = Path(__file__).parents[3] / "docs/reference/api.md"


def test_the_page_is_current() -> None:
    written = write(create_app(Settings.model_validate({})).openapi())
    assert PAGE.read_text(encoding="utf-8") == written, "python -m forager.api.reference > docs/reference/api.md"
