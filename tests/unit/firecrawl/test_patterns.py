"""Path patterns of Firecrawl as globs: what people write is translated, everything else is rejected."""

import pytest

from forager.errors import UsageError
from forager.firecrawl.patterns import to_glob

ORIGIN = "https://a.example"


@pytest.mark.parametrize(
    ("pattern", "glob"),
    [
        ("blog/.*", f"{ORIGIN}/*blog/*"),
        ("^/blog/.*$", f"{ORIGIN}/blog/*"),
        ("^blog", f"{ORIGIN}/blog*"),
        (r"/admin/.*\.html$", f"{ORIGIN}/*admin/*.html"),
        ("/p/.+", f"{ORIGIN}/*p/?*"),
        ("/v.", f"{ORIGIN}/*v?*"),
        ("", f"{ORIGIN}/*"),
    ],
)
def test_what_people_write(pattern: str, glob: str) -> None:
    assert to_glob(pattern, ORIGIN) == glob


@pytest.mark.parametrize("pattern", ["(a|b)", r"\d+", "a{2}", "[ab]", "a+", "a?", r"\*", "a^b"])
def test_what_has_no_glob_is_rejected(pattern: str) -> None:
    with pytest.raises(UsageError, match="not supported"):
        to_glob(pattern, ORIGIN)
