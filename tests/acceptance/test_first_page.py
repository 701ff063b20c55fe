"""From nothing to the first page: how long a newcomer waits, and from where the program is loaded."""

import pytest
from tests.acceptance.conftest import OpenWeb
from tests.acceptance.stage import Forager, tell, until
from tests.starter import PROGRAM

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(180)]


def test_the_first_page_of_a_fresh_home(own_forager: Forager, open_web: OpenWeb) -> None:
    """Creating the database included. The figure depends on the machine, so it is told and not judged."""
    web = open_web("uniform=1x3")
    own_forager.program = (str(PROGRAM),)
    crawl = own_forager.start(*web.urls, "--delay", "0", "-o", "out.jsonl")
    until(web.everything, "the web saw a request")
    tell(f"first request after {web.everything()[0].started_s - crawl.started_s:.2f} s")
    crawl.finish()
    assert own_forager.pages() == web.key.expected_success()


SHADOWED = ("queue", "json", "logging", "asyncpg", "forager", "turbohtml", "orjson", "email")


def test_no_process_imports_from_the_folder_it_is_started_in(own_forager: Forager, open_web: OpenWeb) -> None:
    """Files named like modules that workers, parsers and image decoders import: executed, each would leave a mark."""
    for name in SHADOWED:
        mark = own_forager.folder / f"executed.{name}"
        (own_forager.folder / f"{name}.py").write_text(f"open({str(mark)!r}, 'w').close()\nraise SystemExit(9)\n")
    web = open_web("uniform=1x3")
    own_forager.program = (str(PROGRAM),)
    own_forager.start(*web.urls, "--delay", "0", "--images", "download", "-o", "out.jsonl").finish()
    assert own_forager.pages() == web.key.expected_success()
    assert sorted(path.name for path in own_forager.folder.glob("executed.*")) == []
