"""Inner loops in C are built where that is possible, and done without elsewhere: `native.py`, `hatch_build.py`."""

import os
import shutil
import subprocess
import sys
import sysconfig
import threading
import types
from contextlib import suppress
from pathlib import Path
from typing import Any

import native
import pytest

from forager.config.native import check_native, describe_native

ROOT = Path(__file__).parents[2]
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
ROOMS = [source.parent.name for source in native.sources()]


def can_compile() -> bool:
    try:
        native.find_compiler()
    except native.NotCompiledError:
        return False
    return True


compiled_here = pytest.mark.skipif(not can_compile(), reason="there is no C compiler here, or no Python.h")


pytestmark = pytest.mark.xdist_group("native")  # compiled once for all that only use it


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The sources of a package, with nothing compiled in it."""
    return plant(tmp_path)


def plant(folder: Path) -> Path:
    for file in ("native.py", "hatch_build.py"):
        shutil.copy2(ROOT / file, folder / file)
    unwanted = shutil.ignore_patterns("*.so", "static")
    shutil.copytree(ROOT / "src/forager", folder / "src/forager", ignore=unwanted, copy_function=link_or_copy)
    return folder


def link_or_copy(source: str, target: str) -> None:
    """Of a thousand files of Python none is changed here."""
    if source.endswith((".py", ".pyc")):
        with suppress(OSError):  # it lies on another disk
            return os.link(source, target)
    shutil.copy2(source, target)
    return None


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One in which everything is compiled; nobody changes it."""
    folder = plant(tmp_path_factory.mktemp("built"))
    done = run_build(folder)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    return folder


def run_build(tree: Path, *flags: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    """Nobody runs for long what is compiled here: it need not be made fast, which takes most of the time."""
    command = [sys.executable, str(tree / "native.py"), *flags]
    return subprocess.run(
        command, env=os.environ | {"CFLAGS": "-O0"} | environ, capture_output=True, text=True, check=False
    )


def modules_in(tree: Path) -> list[str]:
    return sorted(path.parent.name for path in (tree / "src").rglob("*.so"))


def ask(tree: Path, code: str) -> str:
    """What a Python says that has this tree's package."""
    environ = os.environ | {"PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True).stdout


USED = """
from forager.frontier import compiled as frontier
from forager.links import compiled as ingest
print(frontier.__file__, frontier.IS_THERE, ingest.IS_THERE)
"""


def test_every_source_has_a_stub_and_the_other_way_round() -> None:
    assert list(check_native()) == ROOMS
    assert ROOMS


@compiled_here
def test_what_is_built_is_used(built: Path) -> None:
    assert modules_in(built) == ROOMS
    assert ask(built, USED).split() == [str(built / "src/forager/frontier/compiled.py"), "True", "True"]
    assert describe_native(built / "src/forager") == "Inner loops are in C."


@pytest.mark.parametrize(
    ("compiler", "said"), [("false", "The C compiler did not compile"), ("/no/such/compiler", "No C compiler")]
)
def test_without_a_compiler_a_sentence_says_so(tree: Path, compiler: str, said: str) -> None:
    done = run_build(tree, CC=compiler)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith(said) or "No Python.h" in done.stderr
    assert done.stderr.endswith(": Forager works, and reading a page takes about ten times as long.\n")
    assert done.stderr.count("\n") == 1
    assert modules_in(tree) == []
    assert ask(tree, USED).split()[1:] == ["False", "False"]
    assert "about ten times as long" in describe_native(tree / "src/forager")


WORK = """
import asyncio
from forager.frontier import enqueue, lexemes, store
from forager.frontier.url_cache import UrlCache
from forager.frontier.models import Target
from forager.links.scope import CrawlScope
from forager.links.select import Selector
from forager.parsing.models import FoundLink, Keywords, Reading
from forager.runs.models import RunSpec
target = Target(1, 1, 1, 1, "http://a.example/", 0, 0, 0)
links = [FoundLink("/x", "word", "a"), FoundLink("/y", "", "a nofollow")]
reading = Reading(None, None, None, None, "", "", b"", links, "http://a.example/")
selection = Selector(CrawlScope.of(RunSpec(seeds=("http://a.example/",))), max_links_per_page=9).select(reading, target)
(link,) = selection.links
known = UrlCache(10)
known.add(link.key, 7, 1)
learned, unknown = enqueue.sort_known(selection.links, known)
print(link.url, dict(selection.dropped), learned.page_ids == {link.key: 7}, unknown)
print(store.join_links(selection.links, learned.page_ids))
print(lexemes.weave(Keywords("a b", "a", "", "b"), {"a": b"a", "b": (1, ()), "": (0, ())}, {}))
"""


@compiled_here
def test_forager_does_the_same_without_them(tree: Path, built: Path) -> None:
    vector = b"\0\0\0\x01a\0\0\x02\xc0\x01\x80\x02"  # as PostgreSQL receives 'a':1A,2B
    without = ask(tree, WORK)
    assert ask(built, WORK) == without
    assert without.splitlines()[1:] == ["('7', None, 'word')", str(vector)]


def test_modules_that_cannot_be_imported_are_done_without() -> None:
    block = f"import sys\nfor room in {ROOMS}: sys.modules[f'forager.{{room}}._native'] = None\n"
    check = "from forager import parsing\nfrom forager.engine import worker\nfrom forager.frontier import compiled\n"
    assert ask(ROOT, block + check + "assert not compiled.IS_THERE" + WORK) == ask(ROOT, WORK)


@compiled_here
def test_only_what_changed_is_compiled_again(built: Path, tmp_path: Path) -> None:
    tree = shutil.copytree(built, tmp_path / "tree")
    modules = {path: path.stat().st_mtime_ns for path in (tree / "src").rglob("*.so")}
    run_build(tree, CC="false")
    assert {path: path.stat().st_mtime_ns for path in modules} == modules, "all are newer than their sources"
    source = tree / "src/forager/frontier/_native.c"
    later = source.with_name("_native" + SUFFIX).stat().st_mtime + 10
    os.utime(source, (later, later))
    done = run_build(tree, CC="false")
    assert done.returncode == 0
    assert modules_in(tree) == [room for room in ROOMS if room != "frontier"], "nobody loads what is out of date"


@compiled_here
def test_two_builds_at_once_do_not_disturb_each_other(tree: Path) -> None:
    threads = [threading.Thread(target=run_build, args=(tree,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert modules_in(tree) == ROOMS, "and no drafts"
    assert ask(tree, USED).split()[1:] == ["True", "True"]


@compiled_here
def test_strictness_is_about_warnings(tree: Path) -> None:
    source = tree / "src/forager/frontier/_native.c"
    for other in set((tree / "src").rglob("_native.c")) - {source}:
        other.unlink()
    source.write_text(source.read_text(encoding="utf-8") + "static int forgotten;\n", encoding="utf-8")
    assert run_build(tree).returncode == 0, "a person who installs Forager has nothing of it"
    shutil.rmtree(tree / "build", ignore_errors=True)
    done = run_build(tree, "--strict")
    assert done.returncode == 1
    assert "forgotten" in done.stderr
    assert run_build(tree, "--strict", CC="/no/such/compiler").returncode == 0, "no compiler, nothing to object to"


@pytest.fixture
def hook(tree: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`hatch_build.py` of the tree, as hatchling loads it, without hatchling."""
    interface = types.ModuleType("hatchling.builders.hooks.plugin.interface")
    interface.BuildHookInterface = object  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, interface.__name__, interface)
    monkeypatch.delitem(sys.modules, "native")
    monkeypatch.setenv("CFLAGS", "-O0")
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    hook = types.ModuleType("hatch_build")
    hook.__file__ = str(tree / "hatch_build.py")
    exec((tree / "hatch_build.py").read_text(encoding="utf-8"), hook.__dict__)
    (tree / "src/forager/dashboard/static").mkdir()
    (tree / "src/forager/dashboard/static/index.html").touch()
    made = hook.PackageHook()
    made.target_name = "wheel"
    return made


def build_wheel(hook: Any, version: str = "standard") -> dict[str, Any]:
    data: dict[str, Any] = {"artifacts": [], "force_include": {}, "pure_python": True, "infer_tag": False}
    hook.initialize(version, data)
    return data


@compiled_here
def test_a_wheel_with_modules_is_of_this_platform(hook: Any, tree: Path) -> None:
    other = tree / "src/forager/frontier/_native.cpython-39-other.so"
    other.touch()
    data = build_wheel(hook)
    assert (data["pure_python"], data["infer_tag"]) == (False, True)
    assert sorted(data["force_include"].values()) == [f"forager/{room}/_native{SUFFIX}" for room in ROOMS]


def test_a_wheel_without_a_compiler_is_for_all(hook: Any, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    monkeypatch.setenv("CC", "/no/such/compiler")
    data = build_wheel(hook)
    assert (data["pure_python"], data["infer_tag"], data["force_include"]) == (True, False, {})
    assert "about ten times as long" in capfd.readouterr().err


@compiled_here
def test_an_editable_install_compiles_in_place(hook: Any, tree: Path) -> None:
    assert build_wheel(hook, "editable")["force_include"] == {}
    assert modules_in(tree) == ROOMS
