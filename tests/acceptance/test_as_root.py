"""`forager` started by root, as a person in a container does it: everything works, and nothing of it is root."""

import json
import os
import pwd
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.acceptance.stage import until

from forager.cli import root
from forager.db import embedded
from forager.db.embedded import account, private, processes
from forager.errors import ConfigurationError
from forager.fetch.browser.program import find_missing_dependency

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can stop being root")
PROGRAM = Path(sys.executable).parent / "forager"
NOBODY = pwd.getpwnam("nobody")


class Site(ThreadingHTTPServer):
    """A page that is answered when the test has seen enough."""

    daemon_threads = True

    def __init__(self, body: bytes) -> None:
        super().__init__(("127.0.0.1", 0), Page)
        self.body = body
        self.asked, self.go_on = threading.Event(), threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/"


class Page(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        if self.path == "/slow":
            self.server.asked.set()
            self.server.go_on.wait(60)
        self.send_response(404 if self.path == "/robots.txt" else 200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, *_: object) -> None:
        pass


def serve(body: bytes) -> Iterator[Site]:
    with Site(body) as site:
        thread = threading.Thread(target=site.serve_forever, args=(0.05,))
        thread.start()
        yield site
        site.go_on.set()
        site.shutdown()
        thread.join()


@pytest.fixture
def site() -> Iterator[Site]:
    yield from serve(b'<title>A page</title><a href="/slow">more</a>')


@pytest.fixture
def scripted() -> Iterator[Site]:
    yield from serve(b"<script>fetch('/slow').then(() => document.title = 'drawn')</script>")


@pytest.fixture
def fresh(home: Path) -> Iterator[Path]:
    """The name of a home that nobody has made yet, in a folder of root."""
    yield home / "fresh"
    assert embedded.stop(home / "fresh")


def environ(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FORAGER_")}
    return kept | {"FORAGER_HOME": str(home), "FORAGER_FETCH_ALLOW_NETWORKS": "127.0.0.0/8"}


def start(home: Path, *arguments: str, folder: Path) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [str(PROGRAM), *arguments], env=environ(home), cwd=folder, stdout=pipe, stderr=pipe, text=True
    )


def run(home: Path, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(PROGRAM), *arguments], env=environ(home), cwd=folder, capture_output=True, text=True, check=False
    )


def family_of(pid: int) -> list[int]:
    """A process and all that came from it."""
    children = [int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in _children(task)]
    return [pid, *(each for child in children for each in family_of(child))]


def _children(task: Path) -> list[str]:
    return (task / "children").read_text().split()


def test_a_crawl_of_root_is_no_process_of_root(fresh: Path, site: Site, tmp_path: Path) -> None:
    crawl = start(fresh, "crawl", site.url, "-o", "pages.jsonl", folder=tmp_path)
    assert site.asked.wait(60), crawl.communicate()
    owner = pwd.getpwnam(account.SERVICE).pw_uid
    family = family_of(crawl.pid)
    assert len(family) >= 3, "the crawl, its worker, its reader"
    server = embedded.status(fresh).pid
    assert server is not None
    assert {processes.owner_of(pid) for pid in (*family, server)} == {owner}
    site.go_on.set()
    said = crawl.communicate(timeout=60)
    assert crawl.returncode == 0, said
    written = tmp_path / "pages.jsonl"
    assert len(written.read_text().splitlines()) == 2
    assert written.stat().st_uid == 0, "root's folder gets a file of root's"
    assert (fresh.stat().st_uid, stat.S_IMODE(fresh.stat().st_mode)) == (owner, 0o700)
    assert [path for path in fresh.rglob("*") if path.lstat().st_uid != owner] == []


def test_root_works_as_the_owner_of_a_home(home: Path, tmp_path: Path) -> None:
    os.chown(home, NOBODY.pw_uid, NOBODY.pw_gid)
    done = run(home, "domains", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path.lstat().st_uid for path in home.iterdir()} == {NOBODY.pw_uid}


def test_what_root_left_with_its_rights_is_handed_over(fresh: Path, tmp_path: Path) -> None:
    done = run(fresh, "--allow-root", "domains", folder=tmp_path)
    assert (done.returncode, fresh.stat().st_uid) == (0, 0), done.stderr
    (fresh / "bodies").mkdir()
    (fresh / "bodies" / "one").write_text("a body")
    done = run(fresh, "domains", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert 0 not in {path.lstat().st_uid for path in (fresh, *fresh.rglob("*"))}


def test_what_root_left_deep_in_the_home_of_another_is_given_back(home: Path, tmp_path: Path) -> None:
    folder = home / "bodies" / "1f"
    folder.mkdir(parents=True)
    for each in (home, home / "bodies", folder):
        os.chown(each, NOBODY.pw_uid, NOBODY.pw_gid)
    done = run(home, "--allow-root", "domains", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    body, linked, link = folder / "body", folder / "linked", folder / "link"
    body.write_text("written as root")
    link.symlink_to(tmp_path)
    precious, to_file = tmp_path / "precious", folder / "to_file"
    precious.write_text("root's own")
    to_file.symlink_to(precious)
    linked.write_text("root's own")
    (folder / "second name").hardlink_to(linked)
    done = run(home, "domains", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path.lstat().st_uid for path in (body, link, to_file)} == {NOBODY.pw_uid}
    assert {path.stat().st_uid for path in (linked, tmp_path, precious)} == {0}


def test_a_home_is_looked_through_once_for_what_root_left(home: Path) -> None:
    folder, owner = home / "bodies" / "1f", account.Account(NOBODY.pw_uid, NOBODY.pw_gid)
    folder.mkdir(parents=True)
    for each in (home, home / "bodies", folder):
        os.chown(each, owner.uid, owner.gid)
    first, second = folder / "first", folder / "second"
    first.touch()
    root._mark_use(home)
    with private.open_resolved(home) as handle:
        root._transfer(home, handle, owner)
        assert (home / root.MARK).stat().st_size == 1, "root, this process, may write more"
        (home / root.MARK).unlink()  # as that process ends
        second.touch()
        root._transfer(home, handle, owner)
    assert (first.stat().st_uid, second.stat().st_uid) == (owner.uid, 0)


def test_a_home_that_is_exchanged_for_a_link_meanwhile_gives_nothing_away(home: Path, tmp_path: Path) -> None:
    victim, real, aside = tmp_path / "victim", home / "real", home / "aside"
    for each in (victim, real):
        (each / "bodies").mkdir(parents=True)
    os.chown(real, NOBODY.pw_uid, NOBODY.pw_gid)
    with private.open_resolved(real) as handle:
        real.rename(aside)
        real.symlink_to(victim)
        root._transfer(real, handle, account.of_folder(handle))
    assert ((victim / "bodies").stat().st_uid, (aside / "bodies").stat().st_uid) == (0, NOBODY.pw_uid)
    for path in (real, real / "bodies"):
        with pytest.raises(ConfigurationError, match="somebody exchanged it"), private.open_resolved(path):
            pass


def test_a_folder_with_other_things_in_it_is_not_given_away(home: Path, tmp_path: Path) -> None:
    (home / "diary.txt").write_text("private")
    done = run(home, "domains", folder=tmp_path)
    assert done.returncode == 4
    assert "it holds other things, such as 'diary.txt'. Choose a folder of its own with FORAGER_HOME" in done.stderr
    assert (home.stat().st_uid, (home / "diary.txt").stat().st_uid) == (0, 0)


def test_a_link_in_a_home_is_not_followed_when_it_is_handed_over(home: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("root's own")
    (home / "bodies").mkdir()
    (home / "bodies" / "link").symlink_to(precious)
    (home / "cold").symlink_to(tmp_path)
    run(home, "domains", folder=tmp_path)
    assert (precious.stat().st_uid, tmp_path.stat().st_uid) == (0, 0)


def test_what_root_may_and_forager_may_not_is_explained(fresh: Path, tmp_path: Path) -> None:
    done = run(fresh, "backup", str(tmp_path / "backups"), folder=tmp_path)
    assert done.returncode != 0
    assert "Started by root, Forager works as the user forager: give it the file, or say --allow-root" in done.stderr


@pytest.mark.parametrize("named", ["page.html", "./page.html", "-"])
def test_a_page_that_only_root_may_read_is_read_by_another(fresh: Path, tmp_path: Path, named: str) -> None:
    page = tmp_path / "page.html"
    page.write_text("<title>A page of root</title>")
    page.chmod(0o600)
    tmp_path.chmod(0o700)
    with page.open() as stdin:
        command = [str(PROGRAM), "read", named, "--url", "http://a.example/", "--json"]
        done = subprocess.run(
            command, env=environ(fresh), cwd=tmp_path, stdin=stdin, capture_output=True, text=True, check=False
        )
    assert json.loads(done.stdout)["title"] == "A page of root", done.stderr
    assert fresh.stat().st_uid == pwd.getpwnam(account.SERVICE).pw_uid


def test_standard_input_is_left_for_the_other_account(fresh: Path, tmp_path: Path) -> None:
    for command, given in (
        ("domain a.example set --username bob --password-file -", "secret"),
        ("profiles apply -", "[profile.shops]\ndelay = '2s'"),
        ("profiles join shops --file -", "a.example"),
        ("tasks submit -f -", "https://a.example/"),
        ("proxies add -f -", "http://proxy.example:8080"),
    ):
        order = [str(PROGRAM), *command.split()]
        done = subprocess.run(
            order, env=environ(fresh), cwd=tmp_path, input=given, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr


@pytest.mark.skipif(find_missing_dependency() is not None, reason=f"{find_missing_dependency()}")
def test_chromium_of_root_keeps_its_sandbox(fresh: Path, scripted: Site, tmp_path: Path) -> None:
    fetch = start(fresh, "fetch", scripted.url, "--rendering", "always", folder=tmp_path)
    assert scripted.asked.wait(60), fetch.communicate()
    family = family_of(fetch.pid)
    commands = {pid: processes.command_of(pid) for pid in family}
    renderers = [pid for pid, command in commands.items() if "--type=renderer" in command]
    assert renderers
    assert not any("--no-sandbox" in command for command in commands.values())
    assert 0 not in {processes.owner_of(pid) for pid in family}
    until(lambda: all("Seccomp:\t2" in Path(f"/proc/{pid}/status").read_text() for pid in renderers), "it is shut in")
    ours = Path("/proc/self/ns/user").readlink()
    assert all(Path(f"/proc/{pid}/ns/user").readlink() != ours for pid in renderers)
    scripted.go_on.set()
    said, _ = fetch.communicate(timeout=60)
    assert "drawn" in said
