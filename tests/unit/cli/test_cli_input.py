"""Bad input of every command: one sentence on standard error, the right exit code, nothing changed, no trace."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from forager.cli import option_values
from forager.cli.main import app, run
from forager.cli.version import describe_version
from forager.config.settings import FIELDS, is_advanced

UNREACHABLE = "postgresql://127.0.0.1:9/none"


@pytest.fixture
def forager(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., tuple[int, str, str]]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FORAGER_HOME", str(tmp_path / "home"))

    def call(*arguments: str) -> tuple[int, str, str]:
        code = run(arguments)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return code, captured.out, captured.err

    return call


NOT_UTF8 = "caf\udce9.example"
"""As Python has bytes that are not UTF-8."""
USAGE = [
    ["nope"],
    ["domans"],
    ["--nope"],
    ["crawl"],
    ["crawl", "not a url"],
    ["crawl", "ftp://a.example/"],
    ["text"],
    ["text", "missing.html"],
    ["text", "missing.html", "--task", "1"],
    ["text", "a.html", "--format", "pdf"],
    ["export", "links", "--with", "text"],
    ["crawl", "a.example", "--max-pages", "0"],
    ["crawl", "a.example", "--max-pages", "many"],
    ["crawl", "a.example", "--max-pages-per-domain", "-1"],
    ["crawl", "a.example", "--depth", "-1"],
    ["crawl", "a.example", "--depth", "100000"],
    ["crawl", "a.example", "--scope", "galaxy"],
    ["crawl", "a.example", "--delay", "-0.1"],
    ["crawl", "a.example", "--delay", "fast"],
    ["crawl", "a.example", "--delay", "1", "--set", "delay=3s"],
    ["crawl", "a.example", "--scope", "page", "--set", "scope=host"],
    ["crawl", "a.example", "--set", "delay=3s", "--set", "delay=4s"],
    ["domain", "a.example", "set", "--every", "5s", "--default", "every"],
    ["profiles", "apply", "missing.toml"],
    ["crawl", "a.example", "--workers", "0"],
    ["crawl", "a.example", "-o", "missing/out.jsonl"],
    ["crawl", "a.example", "-o", "."],
    ["crawl", "-f", "missing.txt"],
    ["crawl", "http://127.0.0.1/", "--json", "-o", "-"],
    ["domain", NOT_UTF8],
    ["search", NOT_UTF8],
    ["worker", "drain", NOT_UTF8],
    ["crawl", NOT_UTF8],
    ["pages", "--domain", NOT_UTF8],
    ["batches", "restart", NOT_UTF8],
    ["tasks", "submit", "a.example", "--created-by", NOT_UTF8],
    ["seed"],
    ["seed", "not a url"],
    ["seed", "-f", "missing.txt"],
    ["seed", "--sitemap", "missing.xml"],
    ["seed", "-f", "-", "--sitemap", "-"],
    ["seed", "a.example", "--format", "xml"],
    ["seed", "a.example", "--source", ""],
    ["worker", "--run", "zero"],
    ["domains", "--status", "asleep"],
    ["domains", "--limit", "0"],
    ["domains", "explode"],
    ["domains", "top", "--by", "luck"],
    ["domains", "--json", "top"],
    ["domain"],
    ["domain", "a.example", "explode"],
    ["domain", "a.example", "block"],
    ["domain", "a.example", "block", "--reason", "x", "--for", "90"],
    ["domain", "a.example", "set"],
    ["domain", "a.example", "set", "--every", "often"],
    ["domain", "a.example", "set", "--delay", "slow"],
    ["domain", "a.example", "set", "--max-pages", "1.5"],
    ["domain", "a.example", "set", "--window", "22-6"],
    ["page"],
    ["page", "http://a.example/", "every"],
    ["page", "http://a.example/", "every", "now and then"],
    ["pages", "--status", "lost"],
    ["pages", "--outcome", "great"],
    ["pages", "--limit", "x"],
    ["tasks", "--run", "x"],
    ["tasks", "--url", "::"],
    ["runs", "--limit", "-3"],
    ["export"],
    ["export", "cats"],
    ["export", "pages", "--format", "xml"],
    ["export", "pages", "--status", "pending"],
    ["export", "tasks", "--status", "fetched"],
    ["export", "links", "--status", "fetched"],
    ["export", "prices", "--status", "fetched"],
    ["export", "pages", "--since", "yesterday"],
    ["export", "pages", "-o", "out.parquet", "--compress"],
    ["export", "pages", "-o", "out.parquet.gz"],
    ["links"],
    ["links", "http://a.example/", "--top"],
    ["links", "--top", "--in"],
    ["links", "http://a.example/", "--domain", "a.example"],
    ["export", "pages", "-o", "missing/out.csv"],
    ["check", "everything"],
    ["settings", "politeness.delay", "more"],
    ["db", "explode"],
    ["db", "downgrade"],
    ["db", "downgrade", "base"],
    ["normalize"],
    ["normalize", "nope"],
    ["robots"],
    ["robots", "nope", "--file", "x"],
    ["robots", "http://a.example/", "--file", "missing.txt"],
    ["read"],
    ["read", "missing.html"],
    ["read", "missing.html", "--url", "http://a.example/"],
    ["read", "missing.html", "--url", "nope"],
    ["playground", "--sites", "atlantis"],
    ["playground", "--port", "70000"],
    ["playground", "--host-base", "10.0.0.1"],
    ["demo", "--scale", "0"],
]


@pytest.mark.parametrize("arguments", USAGE, ids=" ".join)
def test_a_usage_error_is_one_sentence(forager: Any, tmp_path: Path, arguments: list[str]) -> None:
    code, _, err = forager(*arguments)
    assert code == 2
    said = [line for line in err.splitlines() if not line.startswith("Start URLs")]
    assert len(said) == 1
    assert said[0].startswith("forager: ")
    assert list(tmp_path.iterdir()) == []


def test_close_commands_are_suggested(forager: Any) -> None:
    assert "Did you mean" in forager("domans")[2]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["crawl", "example.com"], "needs a contact"),
        (["crawl", "http://127.0.0.1/", "--allow-network", "everything"], "is not a network"),
        (["robots", "https://example.com/"], "needs a contact"),
        (["seed", "--sitemap", "https://example.com/sitemap.xml"], "needs a contact"),
    ],
)
def test_bad_configuration(forager: Any, tmp_path: Path, arguments: list[str], sentence: str) -> None:
    code, out, err = forager(*arguments)
    assert (code, out) == (4, "")
    assert sentence in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [["domains"], ["settings"], ["check"], ["crawl", "http://127.0.0.1/"]])
def test_an_unknown_setting_is_refused_everywhere(
    forager: Any, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.setenv("FORAGER_DELAY", "3")
    code, _, err = forager(*command)
    assert code == 4
    assert "Did you mean 'politeness.delay'?" in err


def test_a_settings_file_in_the_working_folder_is_ignored_and_named(
    forager: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FORAGER_FILE_IGNORED", "")
    monkeypatch.delenv("FORAGER_FILE_IGNORED")
    (tmp_path / "forager.toml").write_text("politeness.delay = 2.5\n")
    code, out, err = forager("settings", "--json")
    rows = {row["name"]: row for row in json.loads(out)}
    assert (code, rows["politeness.delay"]["value"]) == (0, "1s")
    assert f"{tmp_path / 'forager.toml'} is ignored: settings come from {tmp_path / 'home' / 'forager.toml'}" in err
    assert "is ignored" not in forager("settings")[2], "said once, and not by every process that is started"


def test_a_settings_file_that_is_named_is_read(forager: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FORAGER_CONFIG", "")
    (tmp_path / "mine.toml").write_text("politeness.delay = 2.5\n")
    code, out, err = forager("--config", "mine.toml", "settings", "--json")
    rows = {row["name"]: row for row in json.loads(out)}
    assert (code, err, rows["politeness.delay"]["value"]) == (0, "", "2.5s")
    assert rows["politeness.delay"]["source"] == str(tmp_path / "mine.toml")


def test_a_bad_settings_file_is_named(forager: Any, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "forager.toml").write_text("delay = ")
    code, _, err = forager("settings")
    assert code == 4
    assert "forager.toml cannot be read as TOML" in err


@pytest.mark.parametrize(
    "command",
    [
        *(["domain", "a.example", "reset"], ["domains", "rebuild"], ["domains", "top"], ["page", "http://a.example/"]),
        *(["domains"], ["domain", "a.example"], ["pages"], ["tasks"], ["runs"], ["check"], ["export", "pages"]),
        *(
            ["crawl", "http://127.0.0.1/"],
            ["seed", "a.example"],
            ["worker", "--run", "1"],
            ["db", "status"],
            ["db", "upgrade"],
        ),
    ],
    ids=" ".join,
)
def test_an_unreachable_database(forager: Any, monkeypatch: pytest.MonkeyPatch, command: list[str]) -> None:
    monkeypatch.setenv("FORAGER_DATABASE_URL", UNREACHABLE)
    code, out, err = forager(*command)
    assert (code, out) == (5, "")
    assert err.count("\n") == 1


@pytest.mark.parametrize("command", ["start", "stop"])
def test_an_external_server_is_not_ours(forager: Any, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.setenv("FORAGER_DATABASE_URL", UNREACHABLE)
    code, _, err = forager("db", command)
    assert code == 2
    assert "external" in err


def test_settings_show_every_one_with_its_source(forager: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FORAGER_DATABASE_URL", "postgresql://me:hunter2@db.example/x?password=hunter3&sslmode=require")
    monkeypatch.setenv("FORAGER_REDIS_URL", "rediss://me:hunter4@cache.example:6379/0")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "forager.toml").write_text("politeness.delay = 2.5\n")
    code, out, _ = forager("settings", "--all", "--json")
    rows = {row["name"]: row for row in json.loads(out)}
    assert code == 0
    assert set(rows) == set(FIELDS)
    delay = rows["politeness.delay"]
    assert (delay["value"], delay["source"]) == ("2.5s", str(tmp_path / "home" / "forager.toml"))
    assert rows["database.url"]["value"] == "postgresql://me:***@db.example/x?password=***&sslmode=require"
    assert rows["redis.url"]["value"] == "rediss://me:***@cache.example:6379/0"
    assert rows["workers"]["source"] == "default"
    for text in (out, forager("settings")[1]):
        assert "hunter" not in text


def test_settings_say_whether_inner_loops_are_in_c(forager: Any) -> None:
    code, out, err = forager("settings")
    assert (code, "Inner loops" in out, err.startswith("Inner loops")) == (0, False, True)


def test_a_bug_becomes_a_sentence(forager: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(*_: object) -> None:
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.setattr("forager.urls.commands.normal_form", break_down)
    code, out, err = forager("normalize", "a.example")
    assert (code, out) == (1, "")
    assert "ZeroDivisionError: division by zero" in err
    assert "The flag -v shows the trace" in err
    assert err.count("\n") == 1


def test_the_trace_is_there_for_who_asks(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def break_down(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("forager.urls.commands.normal_form", break_down)
    monkeypatch.setenv("FORAGER_LOG_LEVEL", "debug")
    assert run(["normalize", "a.example"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_normalize_answers_line_by_line(forager: Any) -> None:
    code, out, _ = forager("normalize", "HTTP://WWW.Example.com:80/b?utm_source=x&a=1", "https://a.b.example.co.uk/")
    first, second = map(json.loads, out.splitlines())
    assert code == 0
    assert first["url"] == "http://www.example.com/b?a=1"
    assert first["domain"] == "example.com"
    assert len(first["key"]) == 32
    assert second["registrable"] == "example.co.uk"


def test_normalize_reports_the_bad_among_the_good(forager: Any) -> None:
    code, out, err = forager("normalize", "https://a.example/", "nope")
    assert code == 2
    assert [("url" in json.loads(line), "error" in json.loads(line)) for line in out.splitlines()] == [
        *((True, False), (False, True))
    ]
    assert "1 of 2" in err


def test_robots_from_a_file(forager: Any, tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_text(
        "User-agent: *\nDisallow: /private/\nCrawl-delay: 2\n\nUser-agent: other\nDisallow: /\n"
        "Sitemap: https://a.example/s.xml\n"
    )
    code, out, err = forager("robots", "https://a.example/private/x", "--file", str(path), "--json")
    answer = json.loads(out)
    assert (code, err) == (6, "")
    assert answer["allowed"] is False
    assert (answer["rule"], answer["line"], answer["group"]) == ("Disallow: /private/", 2, "*")
    assert answer["crawl_delay_s"] == 2.0
    assert answer["sitemaps"] == ["https://a.example/s.xml"]
    other = forager("robots", "https://a.example/", "--file", str(path), "--agent", "Other/1.0", "--json")[1]
    assert [json.loads(other)[key] for key in ("allowed", "line", "agent")] == [False, 6, "Other/1.0"]


def test_robots_for_people(forager: Any, tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_text("User-agent: *\nDisallow: /private/\nCrawl-delay: 2\nSitemap: https://a.example/s.xml\n")
    code, out, _ = forager("robots", "https://a.example/private/x", "--file", str(path))
    assert (code, out.splitlines()[0]) == (6, "not allowed")
    for said in ("Disallow: /private/ (line 2, group *)", "2 s between requests", "https://a.example/s.xml"):
        assert said in out
    code, out, _ = forager("robots", "https://a.example/", "--file", str(path))
    assert (code, out.splitlines()[0]) == (0, "allowed")
    assert "no rule applies" in out


# The real program ---------------------------------------------------------------------------------------------------


def start(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "forager", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        **options,
    )


def test_the_program_says_its_version_and_its_commands() -> None:
    assert start("--version").stdout == f"forager {describe_version()}\n"
    listed = start("--help")
    assert listed.returncode == 0
    for command in app.registered_commands:
        assert f"  {command.name} " in listed.stdout
    assert start().stdout == listed.stdout


def test_the_program_refuses_in_one_sentence() -> None:
    ended = start("crawl", "--scope", "galaxy", "a.example")
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr.startswith("forager: Invalid value for '--scope': 'galaxy' is not one of")
    assert ended.stderr.count("\n") == 1


def test_a_reader_that_leaves_is_no_error() -> None:
    urls = [f"https://host{number}.example/{'x' * 500}" for number in range(200)]
    command = [sys.executable, "-m", "forager", "normalize", *urls]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


def test_help_loads_nothing_heavy() -> None:
    heavy = "pydantic asyncpg httptools rich structlog asyncio ada_url turbohtml"
    program = (
        "import sys; from forager.cli.main import run; code = run(['--help']); "
        f"sys.exit(code or ' '.join(name for name in {heavy.split()!r} if name in sys.modules) or 0)"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_data_is_utf8_whatever_the_locale() -> None:
    ended = start("normalize", "https://a.example/ü", env={"PATH": "", "LC_ALL": "C", "PYTHONIOENCODING": "ascii"})
    assert ended.returncode == 0
    assert json.loads(ended.stdout)["input"] == "https://a.example/ü"


def test_advanced_settings_are_shown_on_request_or_where_they_are_set(
    forager: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORAGER_CRAWL_MAX_WAIT", "90s")
    names = {row["name"] for row in json.loads(forager("settings", "--json")[1])}
    assert names == {path for path in FIELDS if not is_advanced(path)} | {"crawl.max_wait"}
    code, out, err = forager("settings")
    assert code == 0
    assert "1m30s" in out
    assert f"{len(FIELDS) - len(names)} advanced settings have their default" in err


@pytest.mark.parametrize(("text", "seconds"), [("500ms", 0.5), ("2s", 2.0), ("0.5", 0.5), ("0", 0.0), ("1m", 60.0)])
def test_a_delay_has_a_unit_or_is_in_seconds(text: str, seconds: float) -> None:
    assert option_values.delay(text) == seconds


@pytest.mark.parametrize("text", ["fast", "-1", "2d", "nan", "inf", ""])
def test_what_is_no_delay_is_rejected(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        option_values.delay(text)
