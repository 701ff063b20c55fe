"""`forager completion SHELL`: prints a script that lets a shell complete commands, options and their values.

The script runs `forager __complete SHELL WORDS…` at each Tab. That reads the command tree only: no settings, no
database, nothing that takes longer than `--help`. `complete` is pure.
"""

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import PurePath
from typing import Annotated, Any, NamedTuple

import typer

from forager.cli.help import Command
from forager.cli.name_first import SHOW, NameFirst
from forager.errors import UsageError

REQUEST = "__complete"
"""The first argument of the call that a script makes."""
BASH_WORD_BREAKS = ":="


class Shell(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


class Paths(StrEnum):
    """Whether the shell completes paths instead of the candidates."""

    NONE = "none"
    FILES = "files"
    FOLDERS = "folders"


class Candidate(NamedTuple):
    value: str
    help: str = ""


class Completion(NamedTuple):
    candidates: list[Candidate]
    paths: Paths = Paths.NONE


BASH = r"""# bash completion of forager
_forager_completion() {
    local IFS=$'\n' reply
    reply=($("${1/#\~/$HOME}" __complete bash "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)) || return
    COMPREPLY=("${reply[@]:1}")
    case ${reply[0]} in
        files) compopt -o default 2>/dev/null ;;
        folders) compopt -o dirnames 2>/dev/null ;;
    esac
}
complete -F _forager_completion forager
"""
ZSH = r"""#compdef forager
_forager() {
    local -a reply
    reply=("${(@f)$("${(Q)words[1]}" __complete zsh "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    local paths=$reply[1]
    shift reply
    case $paths in
        files) _files ;;
        folders) _files -/ ;;
        none) (( $#reply )) && _describe -V forager reply ;;
    esac
}
if [[ $funcstack[1] == _forager ]]; then
    _forager "$@"
else
    compdef _forager forager
fi
"""
FISH = r"""# fish completion of forager
function __forager_complete
    set -l words (commandline -opc)
    set -l program $words[1]
    set -e words[1]
    set -l token (commandline -ct)
    set -l reply ($program __complete fish $words "$token" 2>/dev/null)
    set -l paths $reply[1]
    set -e reply[1]
    switch $paths
        case files
            __fish_complete_path (commandline -ct)
        case folders
            __fish_complete_directories (commandline -ct)
        case '*'
            printf '%s\n' $reply
    end
end
complete -c forager -f -a '(__forager_complete)'
"""
SCRIPTS = {Shell.BASH: BASH, Shell.ZSH: ZSH, Shell.FISH: FISH}


Chosen = Annotated[Shell | None, typer.Argument(metavar="SHELL", help="bash, zsh or fish; else that of $SHELL.")]


def register(app: typer.Typer) -> None:
    app.command("completion", cls=Command, rich_help_panel="Look after it")(completion)


def completion(
    shell: Annotated[
        Shell | None, typer.Argument(metavar="SHELL", help="bash, zsh or fish; else that of $SHELL.")
    ] = None,
) -> None:
    """Print a script that completes commands in your shell.

    bash: forager completion bash > ~/.local/share/bash-completion/completions/forager

    zsh: forager completion zsh > ~/.zfunc/_forager, with ~/.zfunc in fpath before compinit

    fish: forager completion fish > ~/.config/fish/completions/forager.fish
    """
    sys.stdout.write(SCRIPTS[shell or _own_shell()])


def _own_shell() -> Shell:
    name = PurePath(os.environ.get("SHELL", "")).name
    if name not in {each.value for each in Shell}:
        raise UsageError(f"Name the shell: `forager completion {'|'.join(Shell)}`; $SHELL is {name or 'not set'}.")
    return Shell(name)


def answer(arguments: Sequence[str], build: Any) -> str:
    """Returns what a script reads: a line for paths, then a line per candidate. `build` makes the command tree; it
    gets the first word, so that it can leave out the other commands."""
    name, *rest = arguments
    shell = Shell(name)
    words = split_line(rest[0] if rest else "") if shell is Shell.BASH else rest
    words = words or [""]
    found = complete(build(words[0] if len(words) > 1 else ""), words)
    shown = [_format_candidate(each, shell, words[-1]) for each in found.candidates]
    return "\n".join([found.paths.value, *shown]) + "\n"


def _format_candidate(candidate: Candidate, shell: Shell, incomplete: str) -> str:
    match shell:
        case Shell.BASH:  # readline replaces what follows the last of these characters only
            kept = max(incomplete.rfind(sign) for sign in BASH_WORD_BREAKS) + 1
            return candidate.value[kept:]
        case Shell.ZSH:
            value = candidate.value.replace(":", r"\:")
            return f"{value}:{candidate.help}" if candidate.help else value
        case Shell.FISH:
            return f"{candidate.value}\t{candidate.help}"


def split_line(line: str) -> list[str]:
    """Returns the words after the program's name; the last one, perhaps empty, is incomplete. An open quote is no
    error."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=False)
    lexer.whitespace_split, lexer.commenters = True, ""
    words: list[str] = []
    try:
        words.extend(lexer)
        is_open = False
    except ValueError:
        words.append(lexer.token)
        is_open = True
    if line[-1:].isspace() and not is_open:
        words.append("")
    while words and "=" in words[0] and not words[0].startswith("-"):  # FORAGER_HOME=x forager …
        words.pop(0)
    return words[1:]


def complete(root: Any, words: Sequence[str]) -> Completion:
    """Returns what the last word can become after the words before it."""
    *before, incomplete = words
    place = _Place(root)
    for word in before:
        place.read(word)
    return place.complete(incomplete)


class _Place:
    """Where in the command tree the cursor is."""

    def __init__(self, root: Any) -> None:
        self.command = root
        self.arguments = 0
        """How many arguments of the command were read."""
        self.option: Any = None
        """The option whose value comes next."""
        self.are_options_over = False

    def read(self, word: str) -> None:
        if self.option is not None:
            self.option = None
        elif word == "--":
            self.are_options_over = True
        elif self._is_option(word):
            self.option = next((each for each in self._valued() if word in each.opts), None)
        else:
            self._read_argument(word)

    def _read_argument(self, word: str) -> None:
        commands = getattr(self.command, "commands", {})
        if isinstance(self.command, NameFirst) and word not in commands and not self.arguments:
            self.arguments = 1  # the name; a verb may follow
        elif word in commands:
            self.arguments = 1 if isinstance(self.command, NameFirst) and self.arguments else 0
            self.command = commands[word]
        else:
            self.arguments += 1

    def complete(self, incomplete: str) -> Completion:
        if self.option is not None:
            return _complete_value(self.option, incomplete)
        if self._is_option(incomplete):
            return self._complete_option(incomplete)
        return self._complete_argument(incomplete)

    def _is_option(self, word: str) -> bool:
        return word.startswith("-") and word != "-" and not self.are_options_over

    def _complete_option(self, incomplete: str) -> Completion:
        name, equals, value = incomplete.partition("=")
        if equals:
            option = next((each for each in self._valued() if name in each.opts), None)
            if option is None:
                return Completion([])
            found = _complete_value(option, value)
            return found._replace(candidates=[each._replace(value=f"{name}={each.value}") for each in found.candidates])
        return Completion(_starting_with(incomplete, self._option_names()))

    def _option_names(self) -> Iterator[Candidate]:
        for option in self._options():
            if not option.hidden:
                for name in (*option.opts, *option.secondary_opts):
                    if name.startswith("--"):
                        yield Candidate(name, _first_sentence(option.help or ""))

    def _complete_argument(self, incomplete: str) -> Completion:
        commands = getattr(self.command, "commands", {})
        is_after_name = isinstance(self.command, NameFirst) and self.arguments == 1
        if commands and (is_after_name or not (self.arguments or isinstance(self.command, NameFirst))):
            shown = (
                Candidate(name, _first_sentence(each.help or ""))
                for name, each in commands.items()
                if not each.hidden and name != SHOW
            )
            return Completion(_starting_with(incomplete, shown))
        arguments = [each for each in self._target().params if each.param_type_name == "argument"]
        if not arguments:
            return Completion([])
        index = min(self.arguments, len(arguments) - 1)
        if index < self.arguments and arguments[index].nargs == 1:
            return Completion([])
        return _complete_value(arguments[index], incomplete)

    def _target(self) -> Any:
        """Returns the command whose options apply: without a verb, a name is shown."""
        return self.command.commands[SHOW] if isinstance(self.command, NameFirst) else self.command

    def _options(self) -> list[Any]:
        target = self._target()
        context = target.make_context(target.name, [], resilient_parsing=True, **_help_names())
        return [each for each in target.get_params(context) if each.param_type_name == "option"]

    def _valued(self) -> list[Any]:
        return [each for each in self._options() if not each.is_flag and not each.count]


def _help_names() -> dict[str, Any]:
    return {"help_option_names": ["-h", "--help"]}


def _complete_value(parameter: Any, incomplete: str) -> Completion:
    names = {Paths.FILES: "FILE", Paths.FOLDERS: "FOLDER"}
    kind = next((kind for kind, name in names.items() if parameter.metavar == name), Paths.NONE)
    values = [Candidate(str(each.value), each.help or "") for each in parameter.shell_complete(None, incomplete)]
    if not values and "|" in (parameter.metavar or ""):  # a plain text whose choices are named: never|auto|always
        words = (Candidate(word) for word in parameter.metavar.split("|") if word.islower())
        values = _starting_with(incomplete, words)
    return Completion(values, Paths.NONE if values else kind)


def _starting_with(incomplete: str, candidates: Iterator[Candidate]) -> list[Candidate]:
    return [each for each in candidates if each.value.startswith(incomplete)]


def _first_sentence(text: str) -> str:
    """Returns the beginning of a help text, on one line."""
    line = " ".join(text.split("\n\n", 1)[0].split())
    return line.partition(". ")[0].removesuffix(".")
