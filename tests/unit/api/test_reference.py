"""The reference page and the list of operations say what the API is."""

from pathlib import Path

from forager.api.app import create_app
from forager.api.reference import list_operations, write
from forager.config.settings import Settings

REFERENCE = Path(__file__).parents[3] / "docs/reference"


def test_the_page_is_current() -> None:
    written = write(create_app(Settings()).openapi())
    page = (REFERENCE / "api.md").read_text(encoding="utf-8")
    assert page == written, "python -m forager.api.reference > docs/reference/api.md"


def test_the_list_of_operations_is_current() -> None:
    written = list_operations(create_app(Settings()).openapi())
    listed = (REFERENCE / "operations.txt").read_text(encoding="utf-8")
    assert listed == written, "python -m forager.api.reference operations > docs/reference/operations.txt"
