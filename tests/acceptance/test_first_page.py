"""From nothing to the first page: how long a newcomer waits."""

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
