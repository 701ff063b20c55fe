"""The playground as a process: it says where it is, tells all it saw even when killed, and stops cleanly."""

import json
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from forager.errors import UsageError
from forager_playground import read_key, read_log, start_playground

COMMAND = [sys.executable, "-m", "forager_playground"]


def get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return bytes(answer.read())


def test_it_says_where_it_is_and_stops_when_told(tmp_path: Path) -> None:
    ready, key, log = tmp_path / "ready.json", tmp_path / "key.json", tmp_path / "log.jsonl"
    flags = ["--sites", "shop,uniform=2x9", "--seed", "5", "--ready-file", ready, "--answer-key", key, "--log", log]
    with subprocess.Popen([*COMMAND, *map(str, flags)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        urls = [process.stdout.readline().strip() for _ in range(3)]
        facts = json.loads(ready.read_text())
        assert facts == {"pid": process.pid, "urls": urls, "networks": [f"127.0.0.{n}/32" for n in (11, 12, 13)]}
        answers = read_key(key.read_text())
        assert [site.start_url for site in answers.sites] == urls
        for url in answers.by_url:
            get(url)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=10) == 0
    assert {visit.url for visit in read_log(log)} == set(answers.by_url)


def test_a_killed_playground_has_told_all_it_saw(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    with start_playground(["uniform=1x30"], log_path=log, warm_pages=5) as running:
        assert running.networks == ("127.0.0.11/32",)
        for url in running.answer_key.expected_success():
            get(url)
        running.process.kill()
        running.process.wait(timeout=10)
    assert {visit.url for visit in read_log(log)} == running.answer_key.expected_success()


def test_resets_are_real_in_a_process_too() -> None:
    with start_playground(["flaky"]) as running, pytest.raises(ConnectionResetError):
        get(running.urls[0] + "p/11")


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--sites", "shoop"], "did you mean 'shop'"),
        (["--sites", ","], "at least one site"),
        (["--scale", "0"], "scale"),
        (["--host-base", "10.1.2.3"], "loopback only"),
        (["--log", "/no/such/folder/log"], "cannot be written"),
    ],
)
def test_bad_flags_end_with_one_sentence(flags: list[str], words: str) -> None:
    ended = subprocess.run([*COMMAND, *flags], capture_output=True, text=True, timeout=30, check=False)
    assert ended.returncode == 2
    assert words in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_a_playground_that_cannot_start_is_told_to_the_starter() -> None:
    with socket.create_server(("127.0.0.11", 0)) as taken:
        playground = start_playground(["uniform=1x2"], port=taken.getsockname()[1])
        with pytest.raises(UsageError, match="did not start"), playground:
            pass  # pragma: no cover
