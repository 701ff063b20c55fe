"""Completion: what a word can become, and that the shells read what we print."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.main import get_command

from forager.cli.completion import SCRIPTS, Paths, Shell, complete, split_line
from forager.cli.main import app, run
from forager.cli.name_first import SHOW

ROOT = get_command(app)
BIN = Path(sys.executable).parent


def values(*words: str) -> list[str]:
    return [each.value for each in complete(ROOT, words).candidates]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["cra"], ["crawl"]),
        (["-v", "cra"], ["crawl"]),
        (["--config", "f.toml", "cra"], ["crawl"]),
        (["crawl", "a.example", "--sco"], ["--scope"]),
        (["crawl", "--scope", "ho"], ["host"]),
        (["crawl", "--scope=ho"], ["--scope=host"]),
        (["crawl", "--verb"], ["--verbose"]),
        (["crawl", "--delay", "--sco"], []),
        (["crawl", "--", "--sco"], []),
        (["crawl", "--nope=x"], []),
        (["domains", "cl"], ["claims"]),
        (["domains", "--stat"], ["--status"]),
        (["domain", "re"], []),
        (["domain", "a.example", "re"], ["reset", "resume", "release"]),
        (["domain", "http://a.example/", "blo"], ["block"]),
        (["domain", "a.example", "reset", "--rea"], ["--reason"]),
        (["domain", "reset", "a.example", "--rea"], ["--reason"]),
        (["domain", "a.example", "--hist"], ["--history"]),
        (["domain", "a.example", "set", "--rendering", "a"], ["auto", "always"]),
        (["export", "pro"], ["products"]),
        (["export", "pages", "pro"], []),
        (["completion", "f"], ["fish"]),
        (["nope", "x"], []),
    ],
)
def test_what_a_word_can_become(words: list[str], found: list[str]) -> None:
    assert values(*words) == found


def test_verbs_are_those_that_are_typed() -> None:
    assert SHOW not in values("domain", "a.example", "")
    assert "pause" in values("domain", "a.example", "")


@pytest.mark.parametrize(
    ("words", "paths"),
    [
        (["export", "pages", "-o", ""], Paths.FILES),
        (["crawl", "--home", ""], Paths.FOLDERS),
        (["read", ""], Paths.FILES),
        (["crawl", ""], Paths.NONE),
    ],
)
def test_paths_are_left_to_the_shell(words: list[str], paths: Paths) -> None:
    assert complete(ROOT, words) == ([], paths)


@given(st.lists(st.sampled_from(["domain", "crawl", "a.example", "--", "-", "--scope", "=", "-n", "x y", "", "set"])))
def test_nothing_that_is_typed_is_an_error(words: list[str]) -> None:
    complete(ROOT, [*words, ""])


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("forager ", [""]),
        ("forager cra", ["cra"]),
        ("forager crawl 'a b", ["crawl", "a b"]),
        ("forager crawl 'a b' ", ["crawl", "a b", ""]),
        ("FORAGER_HOME=/x forager cra", ["cra"]),
        ("", []),
    ],
)
def test_a_line_is_split_as_a_shell_does(line: str, words: list[str]) -> None:
    assert split_line(line) == words


@pytest.mark.parametrize("shell", list(Shell))
def test_a_script_is_printed(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", shell.value]) == 0
    assert capsys.readouterr().out == SCRIPTS[shell]


def test_the_shell_is_that_of_the_user(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    assert run(["completion"]) == 0
    assert capsys.readouterr().out == SCRIPTS[Shell.FISH]
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    assert run(["completion"]) == 2
    assert "tcsh" in capsys.readouterr().err


def in_shell(program: str, *arguments: str) -> list[str]:
    if shutil.which(program) is None:
        pytest.skip(f"there is no {program}")
    ended = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, check=True)
    return ended.stdout.splitlines()


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("cra", ["crawl"]),
        ("crawl --scope=ho", ["host"]),
        ("domain http://a.example/ re", ["reset", "resume", "release"]),
    ],
)
def test_bash_reads_it(typed: str, found: list[str]) -> None:
    line = f"{BIN}/forager {typed}"
    code = f'{SCRIPTS[Shell.BASH]}\nCOMP_LINE="{line}" COMP_POINT={len(line)}\n_forager_completion {BIN}/forager'
    assert in_shell("bash", "--norc", "-c", f'{code}\nprintf "%s\\n" "${{COMPREPLY[@]}}"') == found


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("cra", ["crawl"]),
        ("crawl --scope=ho", ["--scope=host"]),
        ("domain a.example pau", ["pause"]),
        ("token ", sorted(values("token", ""))),
    ],
)
def test_fish_reads_it(typed: str, found: list[str]) -> None:
    code = f"set -x PATH {BIN} $PATH\n{SCRIPTS[Shell.FISH]}\ncomplete -C 'forager {typed}'"
    assert [line.partition("\t")[0] for line in in_shell("fish", "--no-config", "-c", code)] == found


def test_zsh_reads_it(tmp_path: Path) -> None:
    script = tmp_path / "_forager"
    script.write_text(SCRIPTS[Shell.ZSH])
    assert in_shell("zsh", "-f", "-n", str(script)) == []
