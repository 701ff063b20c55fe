"""What the documents name exists: links, commands, verbs of make, settings, files, decisions in their order."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from typer.main import get_command

from forager.cli.main import app
from forager.cli.name_first import NameFirst
from forager.config.loader import ENV_PREFIX, NOT_SETTINGS
from forager.config.settings import FIELDS, PATHS
from forager.domains.profiles import read_profiles
from forager.parsing.extractors.load import parse_definition

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FILES = [
    f"/{path.relative_to(ROOT)}"
    for folder in ("src", "playground", "examples", "tests", "docs", "bench")
    for path in (ROOT / folder).rglob("*.*")
]
DECISIONS = sorted((ROOT / "docs/decisions").glob("[0-9]*.md"))

FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
COMMAND = re.compile(r"(?:^|[\s(|/])forager ((?:[a-z]+(?:-[a-z]+)* ?)+)")
BEHIND_A_NAME = re.compile(r"forager (domain|page) [^\s`|]+ ([a-z]+)")
VERB = re.compile(r"(?:^|\s)make (?:[A-Z]+=\S+ )*([a-z][a-z-]*)")
VARIABLE = re.compile(rf"\b{ENV_PREFIX}([A-Z][A-Z_]*[A-Z])\b")
SETTING = re.compile(r"settings? `([\w.]+)`|`([\w.]+)` setting")
STATUS = re.compile(
    r"Status: (accepted|amended by|superseded by)((?: \[\d{4}\]\([\w.-]+\),?)*(?<!,))(?:\. .+)?$", re.MULTILINE
)
INDEXED = re.compile(r"^\| \[\d{4}\]\(([\w.-]+)\) \| (.+) \| (.+) \|$", re.MULTILINE)
FILE = re.compile(r"[\w./-]+/[\w.-]+\.(?:py|sql|conf|toml|md)")


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def code_of(page: Path) -> list[str]:
    """Lines of fenced blocks, and spans of code in the prose."""
    text = text_of(page)
    blocks = [line for _, block in FENCED.findall(text) for line in block.splitlines()]
    return [*blocks, *SPAN.findall(FENCED.sub("", text))]


def each(pages: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("page", pages, ids=lambda page: str(page.relative_to(ROOT)))


def anchors_of(page: Path) -> set[str]:
    """What a heading is called in a link: small letters, hyphens for spaces, no other signs."""
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(text_of(page))}


@each(PAGES)
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(FENCED.sub("", text_of(page))):
        if "://" in link or link.startswith("mailto:"):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{link} leads nowhere"
        assert not anchor or anchor in anchors_of(target), f"{link}: no such heading"


def commands_named(page: Path) -> Iterator[list[str]]:
    for code in code_of(page):
        for words in COMMAND.findall(code):
            yield words.split()


@each(PAGES)
def test_commands_are_real(page: Path) -> None:
    known = get_command(app).commands  # type: ignore[attr-defined]
    for words in commands_named(page):
        assert words[0] in known, f"there is no command `forager {words[0]}`"
        inner = getattr(known[words[0]], "commands", None)
        if isinstance(known[words[0]], NameFirst):
            continue
        if inner is not None and len(words) > 1:
            assert words[1] in inner, f"there is no command `forager {words[0]} {words[1]}`"


@each(PAGES)
def test_verbs_behind_a_name_are_real(page: Path) -> None:
    known = get_command(app).commands  # type: ignore[attr-defined]
    for code in code_of(page):
        for family, verb in BEHIND_A_NAME.findall(code):
            assert verb in known[family].commands, f"there is no `forager {family} NAME {verb}`"


@each(PAGES)
def test_verbs_of_make_exist(page: Path) -> None:
    known = set(re.findall(r"^([a-z-]+):", text_of(ROOT / "Makefile"), re.MULTILINE))
    named = {verb for code in code_of(page) for verb in VERB.findall(code)}
    assert named <= known


@each(PAGES)
def test_settings_exist(page: Path) -> None:
    text = text_of(page)
    from_environment = {name.lower() for name in VARIABLE.findall(text) if name not in NOT_SETTINGS}
    assert from_environment <= set(PATHS)
    in_prose = {first or second for first, second in SETTING.findall(text)}
    in_files = {name for kind, block in FENCED.findall(text) if kind == "toml" for name in names_in(block)}
    assert in_prose | in_files <= set(FIELDS)


def names_in(block: str) -> Iterator[str]:
    if "[record]" in block:  # an extractor file
        assert parse_definition(block, "a block").fields
        return
    for name, value in tomllib.loads(block).items():
        if name == "profile":  # crawl settings of a profile, not settings of an instance
            assert all(read_profiles(block))
            continue
        yield from (f"{name}.{key}" for key in value) if isinstance(value, dict) else (name,)


@each(PAGES)
def test_files_exist(page: Path) -> None:
    """A path in a code span is the end of some file's path: `engine/pipeline.py` is enough."""
    named = {span for span in SPAN.findall(FENCED.sub("", text_of(page))) if FILE.fullmatch(span)}
    assert {span for span in named if not any(path.endswith(f"/{span}") for path in FILES)} == set()


def test_decisions_are_numbered_without_gaps() -> None:
    assert [page.name[:4] for page in DECISIONS] == [f"{number:04}" for number in range(1, len(DECISIONS) + 1)]


@each(DECISIONS)
def test_a_decision_has_its_four_parts(page: Path) -> None:
    title, *parts = HEADING.findall(text_of(page))
    assert title.startswith(f"{page.name[:4]}: ")
    assert parts == ["Context", "Choice", "Price", "When to revisit"]


@each(DECISIONS)
def test_a_decision_has_a_status(page: Path) -> None:
    """Below the title; whichever decision it names is a later one, and exists."""
    state, names = status_of(page)
    assert (state == "accepted") == (names == [])
    assert all(name > page.name and (page.parent / name).exists() for name in names)


def status_of(page: Path) -> tuple[str, list[str]]:
    """The state of a decision, and the pages that amended or superseded it."""
    found = STATUS.match(text_of(page).split("\n")[2])
    assert found, "the third line says: Status: accepted, amended by [NNNN](…), or superseded by [NNNN](…)"
    return found[1], LINK.findall(found[2])


def test_the_index_of_decisions_has_title_and_status_of_each() -> None:
    index = text_of(ROOT / "docs/decisions/README.md")
    expected = []
    for page in DECISIONS:
        title, status = HEADING.findall(text_of(page))[0][6:], STATUS.match(text_of(page).split("\n")[2])
        assert status
        expected.append((page.name, title, status[1] + status[2]))
    assert INDEXED.findall(index) == expected


def test_every_page_is_on_a_shelf() -> None:
    index = ROOT / "docs/README.md"
    shelved = {(index.parent / link.partition("#")[0]).resolve() for link in LINK.findall(text_of(index))}
    on_their_own = {index, *DECISIONS}
    assert {page for page in (ROOT / "docs").rglob("*.md") if page not in on_their_own} <= shelved


def paths_of(nav: object) -> Iterator[str]:
    """Every page that a part of the navigation names."""
    if isinstance(nav, str):
        yield nav
    elif isinstance(nav, dict):
        yield from paths_of(list(nav.values()))
    elif isinstance(nav, list):
        for entry in nav:
            yield from paths_of(entry)


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    """`make docs` finds it too; here it is found without building the site."""
    config = text_of(ROOT / "mkdocs.yml").replace("!!python/object/apply:pymdownx.slugs.slugify", "")
    named = [path for path in paths_of(yaml.safe_load(config)["nav"]) if not path.startswith("project/")]
    found = {page for path in named for page in (ROOT / "docs").glob(path)}
    assert found == set((ROOT / "docs").rglob("*.md"))


def test_every_dependency_has_its_line() -> None:
    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))
    groups = project["dependency-groups"]
    wanted = [*project["project"]["dependencies"], *groups["dev"], *groups["generator"], *groups["docs"]]
    names = {re.split(r"[\[<>=;!~ ]", requirement)[0] for requirement in wanted}
    rows = re.findall(
        r"^\| ([\w-]+)(?:\[[\w,-]+\])? \|", text_of(ROOT / "docs/decisions/0010-dependencies.md"), re.MULTILINE
    )
    assert set(rows) - {"package"} == names


def test_the_readme_says_what_the_defaults_and_the_benchmark_are() -> None:
    readme, benchmark = text_of(ROOT / "README.md"), text_of(ROOT / "docs/explanation/benchmark.md")
    assert "follows links ten levels deep, waits a second between two requests" in readme
    assert (FIELDS["crawl.max_depth"].default, FIELDS["politeness.delay"].default) == (10, 1.0)
    figures = re.findall(r"^\| .* \| ([\d.]+) \| ([\d.]+) ms \|$", readme, re.MULTILINE)
    measured = re.findall(r"^\| .* \| ([\d.]+) \| [\d.]+ × \| ([\d.]+) \|", benchmark, re.MULTILINE)
    exact = {rate: float(cost) for rate, cost in measured}
    assert len(figures) == 4
    assert all(abs(exact[rate] - float(cost)) < 0.2 for rate, cost in figures)
