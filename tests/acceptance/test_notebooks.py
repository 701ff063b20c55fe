"""The notebooks of the documentation run, and show what they showed when they were written."""

from pathlib import Path

import pytest
from tests.notebooks import FOLDER, run_notebook

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(300)]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_shows_its_output(path: Path) -> None:
    stored, ran = run_notebook(path)
    assert ran == stored, "python -m tests.notebooks writes the outputs"
