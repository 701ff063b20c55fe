"""What cannot work ends at once: one sentence, the right exit code, no trace, no connection to where we may not go."""

import socket
from collections.abc import Iterator

import pytest
from tests.acceptance.conftest import HOST_BASE
from tests.acceptance.stage import Forager

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(180)]

USAGE, NOT_FOUND, CONFIGURATION, UNREACHABLE, FAILURES = 2, 3, 4, 5, 6
BAD = [
    (USAGE, ["crawl"], {}),
    (USAGE, ["crawl", "not a url"], {}),
    (USAGE, ["crawl", "ftp://127.0.0.1/"], {}),
    (USAGE, ["crawl", "http://127.0.0.1/", "--max-pages", "0"], {}),
    (USAGE, ["crawl", "http://127.0.0.1/", "--scope", "galaxy"], {}),
    (USAGE, ["crawl", "-f", "missing.txt"], {}),
    (USAGE, ["domans"], {}),
    (NOT_FOUND, ["domain", "nobody.example"], {}),
    (NOT_FOUND, ["worker", "--run", "4711"], {}),
    (CONFIGURATION, ["crawl", "https://site.example/"], {}),
    (CONFIGURATION, ["check"], {"FORAGER_DELAY": "3"}),
    (UNREACHABLE, ["check"], {"FORAGER_DATABASE_URL": "postgresql://127.0.0.1:9/none"}),
    (UNREACHABLE, ["crawl", "http://127.0.0.1/"], {"FORAGER_DATABASE_URL": "postgresql://127.0.0.1:9/none"}),
]


def test_bad_input_is_answered_with_one_sentence(forager: Forager) -> None:
    for code, arguments, environ in BAD:
        ended = forager.run(*arguments, **environ)
        assert (arguments, ended.returncode) == (arguments, code), ended.stderr
        assert ended.stdout == ""
        said = ended.stderr.splitlines()
        assert len(said) == 1, ended.stderr
        assert said[0].startswith("forager: ")
        assert said[0].endswith((".", "?"))
    assert forager.value("SELECT count(*) FROM runs") == 0
    assert forager.value("SELECT count(*) FROM domains") == 0


@pytest.fixture
def deaf_port() -> Iterator[int]:
    """Bound, so that nobody else gets it, but without listening: connections are refused."""
    with socket.socket() as bound:
        bound.bind((HOST_BASE, 0))
        yield bound.getsockname()[1]


def test_a_site_that_nobody_serves_is_a_named_failure(forager: Forager, deaf_port: int) -> None:
    crawl = forager.start(f"http://{HOST_BASE}:{deaf_port}/", "-o", "out.jsonl")
    assert crawl.wait() == FAILURES, crawl.said
    assert [(row["outcome"], row["error_code"]) for row in forager.rows()] == [("failed", "robots_unreachable")]
    assert forager.ask("SELECT status::text, block_reason_code FROM domains") == [("unreachable", "robots_unreachable")]
    assert "Traceback" not in crawl.said
    forager.check()


def test_loopback_is_refused_before_anything_is_dialled(forager: Forager) -> None:
    with socket.create_server((HOST_BASE, 0)) as server:
        server.setblocking(False)
        url = f"http://{HOST_BASE}:{server.getsockname()[1]}/"
        crawl = forager.start(url, "-o", "out.jsonl", FORAGER_FETCH_ALLOW_NETWORKS="")
        assert crawl.wait() == FAILURES, crawl.said
        with pytest.raises(BlockingIOError):  # nobody knocked
            server.accept()
    assert [(row["outcome"], row["error_code"]) for row in forager.rows()] == [("failed", "address_refused")]
    forager.check()
