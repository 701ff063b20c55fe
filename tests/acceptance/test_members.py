"""Sites that want to know who asks: a login form, sessions that end, HTTP Basic, bearer tokens. They are crawled
completely, what proves who we are goes to them only, and none of it is found in anything that is stored or printed."""

import gzip
from pathlib import Path

import pytest
from tests.acceptance.members import PASSWORD, USER, MembersSite, members_site
from tests.acceptance.stage import Forager

from forager.fetch.access import authorization_of

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(180)]

HOST, OTHER = "127.77.5.1", "127.77.5.2"
TABLES = "SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"


def set_up(forager: Forager, site: MembersSite, *flags: str) -> None:
    assert forager.run("seed", site.url()).returncode == 0
    done = forager.run("domain", site.domain, "set", "--delay", "0.05", "--max-depth", "100", *flags)
    assert done.returncode == 0, done.stderr


def set_login(forager: Forager, site: MembersSite, tmp_path: Path, *flags: str) -> None:
    secret = tmp_path.parent / f"{tmp_path.name}.password"
    secret.write_text(PASSWORD + "\n")
    fields = ("--login-field", f"user={USER}", "--login-field", f"pass=@{secret}")
    set_up(forager, site, "--login-url", site.url("/login"), *fields, *flags)


def crawl(forager: Forager, *sites: MembersSite) -> str:
    ended = forager.run("crawl", *(site.url() for site in sites), "--depth", "100")
    return ended.stdout + ended.stderr


def visited(forager: Forager, site: MembersSite) -> set[str]:
    rows = forager.ask("SELECT url FROM pages WHERE status = 'fetched' AND url LIKE $1", f"http://{site.domain}/%")
    return {url.removeprefix(f"http://{site.domain}") for (url,) in rows}


def find_secrets(forager: Forager, home: Path, secrets: list[str], said: str) -> list[str]:
    """Where any of them is found: in files of the home, in rows, in what commands printed."""
    found = [f"output: {secret[:8]}" for secret in secrets if secret in said]
    for path in home.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            if path.suffix == ".gz":
                data = gzip.decompress(data)
            found += [f"{path}: {secret[:8]}" for secret in secrets if secret.encode() in data]
    for (table,) in forager.ask(TABLES):
        for secret in secrets:
            rows = forager.value(f"SELECT count(*) FROM {table} t WHERE strpos(t::text, $1) > 0", secret)
            found += [f"{table}: {secret[:8]}"] if rows else []
    return found


@pytest.mark.parametrize("wall", ["redirect", "form", "401"])
def test_a_site_for_members_is_crawled_over_sessions_that_end(forager: Forager, tmp_path: Path, wall: str) -> None:
    with members_site(host=HOST, pages=25, pages_per_session=7, wall=wall) as site:
        set_login(forager, site, tmp_path, "--content", "archive")
        said = crawl(forager, site)
        assert visited(forager, site) == {"/", *(f"/m/{number}" for number in range(25))}, said
        assert site.failed_logins == 0
        assert 4 <= site.logins <= 8
        assert site.asked("/logout") == 0
        assert forager.value("SELECT count(*) FROM crawl_tasks WHERE outcome = 'failed'") == 0
        audit = forager.run("audit", "politeness")
        assert audit.returncode == 0, audit.stdout
        assert f"{len(site.log)} requests" in audit.stdout + audit.stderr
        for command in (
            ["domain", site.domain],
            ["domain", site.domain, "settings"],
            ["domain", site.domain, "--json"],
        ):
            said += forager.run(*command).stdout
        said += forager.run("domain", site.domain, "login").stderr
        assert find_secrets(forager, tmp_path, [PASSWORD, *site.issued], said) == []
        forager.check()


def test_the_session_outlives_the_run(forager: Forager, tmp_path: Path) -> None:
    with members_site(host=HOST, pages=5, pages_per_session=1000) as site:
        set_login(forager, site, tmp_path)
        crawl(forager, site)
        assert site.logins <= 2  # one for the 403 of a page that is not for members
        before, site.pages = site.logins, 8
        forager.run("refresh", site.domain, "--now")
        assert visited(forager, site) >= {f"/m/{number}" for number in range(5)}
        again = [path for method, path, _ in site.log if method == "POST"]
        assert len(again) == site.logins <= before + 1


def test_a_wrong_password_is_tried_once_and_blames_no_page(forager: Forager, tmp_path: Path) -> None:
    with members_site(host=HOST, password="another") as site:
        set_login(forager, site, tmp_path)
        said = crawl(forager, site)
        said += crawl(forager, site)
        assert (site.logins, site.failed_logins) == (0, 1)
        assert f"`forager domain {site.domain} login`" in said
        reason = forager.ask("SELECT status::text, block_reason_code FROM domains")
        assert reason == [("blocked", "login_failed")]
        assert forager.value("SELECT count(*) FROM crawl_tasks WHERE outcome IS NOT NULL") == 0
        assert "login_failed" in forager.run("why", site.domain).stdout
        assert forager.run("domain", site.domain, "login").returncode == 6
        site.password = PASSWORD
        assert forager.run("domain", site.domain, "login").returncode == 0
        crawl(forager, site)
        assert "/m/19" in visited(forager, site)
        forager.check()


def test_authentication_goes_to_its_own_site_only(forager: Forager, tmp_path: Path) -> None:
    secrets = ["stage-s3cret-pw", "bearer-s3cret-token", "header-s3cret", "cookie-s3cret"]
    basic = authorization_of("bob", secrets[0], None)
    files = {}
    for name, text in {"pw": secrets[0], "token": secrets[1], "headers": f"X-Api-Key: {secrets[2]}"}.items():
        files[name] = tmp_path.parent / f"{tmp_path.name}.{name}"
        files[name].write_text(text + "\n")
    cookies = tmp_path.parent / f"{tmp_path.name}.cookies.txt"
    with (
        members_site(host=HOST, pages=4, authorization=basic) as staging,
        members_site(host=OTHER, pages=4, authorization=f"Bearer {secrets[1]}") as api,
        members_site(host=OTHER, pages=3, pages_per_session=0) as public,
    ):
        cookies.write_text(f"# Netscape HTTP Cookie File\n{OTHER}\tFALSE\t/\tFALSE\t0\tseen\t{secrets[3]}\n")
        set_up(forager, staging, "--username", "bob", "--password-file", str(files["pw"]), "--content", "archive")
        set_up(forager, api, "--token-file", str(files["token"]), "--header-file", str(files["headers"]))
        more = ("--user-agent", "AcmeBot/2.0", "--accept-language", "de", "--cookie-file", str(cookies))
        set_up(forager, public, *more)
        said = crawl(forager, staging, api, public)
        assert visited(forager, staging) == visited(forager, api) == {"/", "/m/0", "/m/1", "/m/2", "/m/3"}, said
        heads = {site.domain: [head for _, _, head in site.log] for site in (staging, api, public)}
    assert all(head["authorization"] == basic for head in heads[staging.domain])
    assert all(head["x-api-key"] == secrets[2] for head in heads[api.domain])
    assert all((head["user-agent"], head["accept-language"]) == ("AcmeBot/2.0", "de") for head in heads[public.domain])
    assert all(head["cookie"] == f"seen={secrets[3]}" for head in heads[public.domain])
    assert not [head for head in heads[public.domain] if "authorization" in head]
    assert not [head for head in heads[staging.domain] if "x-api-key" in head or "cookie" in head]
    assert basic is not None
    assert find_secrets(forager, tmp_path, [*secrets, basic.partition(" ")[2]], said) == []


def test_robots_txt_of_the_login_page_is_obeyed(forager: Forager, tmp_path: Path) -> None:
    with members_site(host=HOST, robots="User-agent: *\nDisallow: /login\n") as site:
        set_login(forager, site, tmp_path)
        said = crawl(forager, site)
        assert "robots.txt forbids a page of the login" in said
        assert site.asked("/login") == 0
