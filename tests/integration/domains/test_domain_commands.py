"""An operator's commands, from words to rows, sentences and exit codes."""

import json
from typing import Any

import pytest

from forager.cli.start import whoami
from forager.explain.check import check

SHOP = "shop.example"


async def domain(world: Any, column: str, name: str = SHOP) -> Any:
    return await world.conn.fetchval(f"SELECT {column} FROM domains WHERE name = $1", name)


async def is_sound(world: Any) -> bool:
    async with world.conn.transaction(isolation="repeatable_read", readonly=True):
        return not any(verdict.broken for verdict in await check(world.conn))


@pytest.mark.parametrize(
    ("words", "change", "sentence"),
    [
        ("reset --reason review", ("is_due", True), "shop.example is active"),
        ("pause", ("is_active", False), "shop.example is paused"),
        ("block --reason review", ("status::text", "blocked"), "is blocked until it is reset."),
        ("block --reason review --for 30d", ("next_crawl_after > now() + interval '29 days'", True), "for 30 d."),
        ("set --delay 2.5", ("crawl_delay_s", 2.5), "shop.example: delay 2.5s."),
        ("set --every 6h", ("revisit_every_s", 21_600.0), "2 next visits planned."),
        ("set --adaptive --revisits-per-day 500", ("is_adaptive", True), "adaptive on, revisits_per_day 500"),
        ("set --pages-per-template 40", ("max_pages_per_template", 40), "max_pages_per_template 40"),
        ("set --refresh 7d --max-pages 9 --concurrency 2", ("max_pages_per_run", 9), "max_pages 9"),
        ("set --window 22:00-06:00", ("maintenance_start::text", "22:00:00"), "window 22:00-06:00"),
        ("set --worker-label eu", ("worker_label", "eu"), "worker_label eu."),
        ("set --policy signals", ("content_policy", "signals"), "content signals."),
    ],
)
async def test_a_verb_behind_the_name(
    forager: Any, world: Any, words: str, change: tuple[str, Any], sentence: str
) -> None:
    column, value = change
    said = await forager("domain", "https://www.Shop.example/tea", *words.split())
    assert (said.code, said.out) == (0, "")
    assert sentence in said.err
    assert said.err.count("\n") == 1
    assert await domain(world, column) == value
    assert (await world.conn.fetchval("SELECT moved_by FROM domain_history")).startswith("cli")
    assert await is_sound(world)


@pytest.mark.parametrize("verb", ["reset", "pause", "resume", "block --reason x", "set --delay 1"])
async def test_every_verb_answers_in_json(forager: Any, verb: str) -> None:
    said = await forager("domain", SHOP, *verb.split(), "--json")
    assert (said.code, said.err) == (0, "")
    assert json.loads(said.out)["name"] == SHOP


@pytest.mark.parametrize("verb", ["", "reset", "pause", "resume", "--history"])
async def test_an_unknown_domain_comes_with_close_ones(forager: Any, verb: str) -> None:
    said = await forager("domain", "shop.exmaple", *verb.split())
    assert (said.code, said.out) == (3, "")
    assert said.err == "forager: There is no domain 'shop.exmaple'. Did you mean shop.example?\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("set --delay 1e9", "less than or equal to 86400"),
        ("set --concurrency 0", "greater than or equal to 1"),
        ("set --worker-label E/U", "worker_label"),
    ],
)
async def test_bad_values_change_nothing(forager: Any, world: Any, words: str, sentence: str) -> None:
    said = await forager("domain", SHOP, *words.split())
    assert said.code == 2
    assert sentence in said.err
    assert await world.conn.fetchval("SELECT count(*) FROM domain_history") == 0


async def test_words_that_clear(forager: Any, world: Any) -> None:
    await forager("domain", SHOP, "set", "--delay", "2", "--every", "6h", "--window", "22:00-06:00", "--refresh", "7d")
    cleared = ("--delay", "default", "--every", "default", "--window", "default", "--refresh", "default")
    said = await forager("domain", SHOP, "set", *cleared)
    assert "2 planned visits removed." in said.err
    for column in ("crawl_delay_s", "revisit_every_s", "maintenance_end", "refresh_every_s"):
        assert await domain(world, column) is None


async def test_the_whole_history(forager: Any) -> None:
    assert (await forager("domain", SHOP, "--history")).err == "Its state never changed.\n"
    await forager("domain", SHOP, "block", "--reason", "asked by its owner")
    await forager("domain", SHOP, "reset", "--reason", "they agreed")
    lines = (await forager("domain", SHOP, "--history")).out.splitlines()
    assert "blocked → pending" in lines[1]
    assert lines[2] == "  └─ they agreed"
    assert "active → blocked" in lines[3]
    rows = json.loads((await forager("domain", SHOP, "--history", "--json")).out)
    assert [row["reason"] for row in rows] == ["they agreed", "asked by its owner"]
    card = (await forager("domain", SHOP)).out
    assert "blocked → pending, by cli" in card
    assert "asked by its owner" in card


async def test_a_domain_that_stands_still_says_why_below_its_row(forager: Any) -> None:
    await forager("domain", SHOP, "block", "--reason", "asked by its owner")
    await forager("domain", "idle.example", "pause")
    lines = (await forager("domains")).out.splitlines()
    assert lines[2] == "  └─ reason: asked by its owner (until it is reset)"
    assert lines[3].split()[:2] == ["idle.example", "paused"]
    assert (await forager("domains", "--status", "unreachable")).err == "No domain is unreachable.\n"


@pytest.mark.parametrize("by", ["yield", "score", "pages", "errors", "change"])
async def test_the_first_domains(forager: Any, world: Any, by: str) -> None:
    await world.conn.execute(
        "UPDATE domains SET images_stored = 6, priority_score = 9 WHERE name = $1",
        SHOP,
    )
    await world.conn.execute("INSERT INTO domain_days VALUES ($1, current_date, 4, 4, 1, 0, 0, 0)", world.domains[SHOP])
    rows = json.loads((await forager("domains", "top", "--by", by, "--json")).out)
    assert [row["name"] for row in rows] == [SHOP, "idle.example"]
    assert (rows[0]["image_yield_rate"], rows[0]["change_rate"]) == (3.0, 0.25)
    assert "25%" in (await forager("domains", "top", "--by", by)).out


async def test_groups(forager: Any) -> None:
    said = (await forager("domains", "groups", "--by", "status")).out
    assert said.splitlines()[0].split()[:4] == ["status", "domains", "pages", "read"]
    assert "active" in said
    (first, *_) = json.loads((await forager("domains", "groups", "--json")).out)
    assert (first["name"], first["domains"]) == ("shop.example", 1)


async def test_claims(forager: Any, world: Any) -> None:
    assert (await forager("domains", "claims")).err == "0 domains held; waiting: 1 pending (0 due), 1 active (1 due).\n"
    await world.conn.execute(
        "UPDATE domains SET claimed_by = $1, claim_expires_at = now() + interval '29 minutes' WHERE name = $2",
        world.worker,
        SHOP,
    )
    said = await forager("domains", "claims")
    assert said.out.splitlines()[1].split()[:3] == [str(world.worker), str(world.run), "1"]
    assert said.err == "1 domain held; waiting: 1 pending (0 due).\n"
    await world.conn.execute("UPDATE workers SET heartbeat_at = now() - interval '1 hour'")
    said = await forager("domains", "claims")
    assert "dead or silent" in said.out
    assert "1 of them stuck" in said.err
    assert json.loads((await forager("domains", "claims", "--json")).out)["stuck"] == 1


async def test_scores(forager: Any, world: Any) -> None:
    await world.conn.execute("UPDATE domains SET seed_rank = 1 WHERE name = $1", SHOP)
    said = await forager("domains", "score")
    assert said.out.splitlines()[1].split()[:3] == [SHOP, "1,004", "+1,000"]
    assert "new pages: 2 points for each page that waits for its first visit, up to 1,000." in said.err
    assert said.err.splitlines()[-1].startswith("2 scores written")
    assert 1000 < await domain(world, "priority_score") < 1010
    again = json.loads((await forager("domains", "score", "--json")).out)
    assert (again["written"], again["domains"][0]["domain"]) == (0, SHOP)
    assert again["domains"][0]["score_explained"][0]["explanation"] == "rank 1"


async def test_rebuild(forager: Any, world: Any) -> None:
    await world.damage("UPDATE domains SET frontier_size = 17 WHERE name = 'shop.example'")
    said = await forager("domains", "rebuild")
    assert said.out.splitlines()[1].split() == [SHOP, "frontier_size", "17", "2"]
    assert said.err == "2 domains recounted: 1 value of 1 domain put right.\n"
    assert json.loads((await forager("domains", "rebuild", "--json")).out)["mended"] == []


async def test_merge(forager: Any, world: Any) -> None:
    await world.conn.execute("UPDATE workers SET status = 'stopped'")
    await world.add_domain("WWW.shop.example")
    said = await forager("domains", "merge", "--dry-run")
    assert "WWW.shop.example" in said.out
    assert said.err == "2 names would become 1 domain; without --dry-run they do.\n"
    assert (await forager("domains", "merge")).err == "2 names became 1 domain.\n"
    assert json.loads((await forager("domains", "merge", "--json")).out) == []
    assert await is_sound(world)


async def test_one_page(forager: Any, world: Any) -> None:
    said = await forager("page", "http://shop.example/about", "every", "6h")
    assert said.err == "http://shop.example/about is visited every 6 h. Its next visit is planned.\n"
    card = (await forager("page", "http://SHOP.example/about#x")).out
    assert "every 6 h; next in 5 h" in card
    assert "visits      1, since" in card
    said = await forager("page", "http://shop.example/about", "every", "default")
    assert said.err.endswith("is visited as often as its domain's pages. A planned visit was dropped.\n")
    assert json.loads((await forager("page", "http://shop.example/", "--json")).out)["is_seed"] is True
    assert (await forager("page", "http://shop.example/nope")).code == 3
    assert (await forager("page", "::")).code == 2
    assert await is_sound(world)


async def test_orders_of_the_command_line_are_in_the_audit_log(forager: Any, world: Any) -> None:
    task = await world.conn.fetchval("SELECT id FROM crawl_tasks WHERE outcome IS NULL")
    for command in (
        ("domain", "shop.example", "pause", "--reason", "a rest"),
        ("domain", "shop.example", "set", "--delay", "3"),
        ("tasks", "pause", str(task)),
        ("tasks", "pause", str(task)),
        ("tasks", "cancel", "--domain", "shop.example", "--dry-run"),
        ("tasks", "cancel", "--domain", "shop.example"),
        ("alerts", "mute", "error_rate", "--for", "2h"),
        ("domain", "nowhere.example", "pause"),
    ):
        await forager(*command)
    rows = await world.conn.fetch("SELECT who, via, action, object_id, details::text FROM audit_log ORDER BY id")
    assert {(row["who"], row["via"]) for row in rows} == {(whoami(), "cli")}
    assert [(row["action"], row["object_id"]) for row in rows] == [
        ("domain.pause", "shop.example"),
        ("domain.configure", "shop.example"),
        ("task.pause", str(task)),
        ("tasks.cancel", None),
        ("alert.mute", "error_rate"),
    ]
    assert json.loads(rows[0]["details"]) == {"reason": "a rest"}
    assert "domain.pause" in (await forager("audit", "log")).out


async def test_many_at_once_by_a_filter_and_each_by_itself(forager: Any, world: Any) -> None:
    names = [row["name"] for row in await world.conn.fetch("SELECT name FROM domains ORDER BY name")]
    said = await forager("domains", "pause", "--all", "--json")
    told = json.loads(said.out)
    assert (said.code, told["done"], told["failed"]) == (0, len(names), 0)
    assert [each["name"] for each in told["domains"]] == names
    assert await world.conn.fetchval("SELECT count(*) FROM domains WHERE is_active") == 0
    said = await forager("domains", "resume", "--filter", "shop")
    assert "resume: 1 domain done, 0 failed." in said.err
    assert await domain(world, "is_active")
    assert await is_sound(world)


async def test_many_at_once_names_what_failed(forager: Any, world: Any) -> None:
    said = await forager("domains", "pause", SHOP, "strange.example")
    assert said.code == 1
    assert "There is no domain 'strange.example'" in said.out
    assert "pause: 1 domain done, 1 failed." in said.err
    assert not await domain(world, "is_active")


async def test_a_dry_run_of_many_changes_nothing(forager: Any, world: Any) -> None:
    said = await forager("domains", "reset", "--status", "active", "--dry-run", "--json")
    assert SHOP in [each["name"] for each in json.loads(said.out)["domains"]]
    assert await world.conn.fetchval("SELECT count(*) FROM domain_history") == 0


@pytest.mark.parametrize("words", ["", "shop.example --all", "--all --status active"])
async def test_many_wants_to_know_which(forager: Any, words: str) -> None:
    said = await forager("domains", "pause", *words.split())
    assert said.code == 2
    assert "Say which domains" in said.err


async def test_seeds_on_hold_wait_until_they_are_resumed(forager: Any, world: Any) -> None:
    said = await forager("seed", "new.example", SHOP, "--hold", "--source", "spring list")
    assert said.code == 0
    command = "forager domains resume --source 'spring list'"
    assert f"`{command}`" in said.err
    assert not await domain(world, "is_active", "new.example")
    assert await domain(world, "is_active"), "a known domain keeps its state"
    said = await forager("domains", "resume", "--source", "spring list")
    assert said.code == 0
    assert await domain(world, "is_active", "new.example")
    assert await is_sound(world)


async def test_a_file_of_profiles_shows_old_and_new_values(forager: Any, world: Any, tmp_path: Any) -> None:
    file = tmp_path / "profiles.toml"
    file.write_text('[profile.shops]\nevery = "2d"\ndelay = "2s"\ntoken = "one"\ndomains = ["shop.example"]\n')
    assert "1 known domain changed profile." in (await forager("profiles", "apply", str(file))).err
    file.write_text('[profile.shops]\nevery = "none"\ntoken = "two"\nmax_pages = 5\ndomains = ["shop.example"]\n')
    shown = (
        "shops: changed\n  - delay = 2s\n  + max_pages = 5\n  - revisit_every = 2d\n  + revisit_every = none\n"
        "  - token = •••\n  + token = •••\n"
    )
    said = await forager("profiles", "apply", str(file), "--dry-run")
    assert said.err == shown + "Nothing was changed: --dry-run.\n"
    assert await domain(world, "revisit_every_s") == 172_800.0
    assert (await forager("profiles", "apply", str(file))).err == shown
    assert await domain(world, "revisit_every_s") is None
    noted = "SELECT details -> 'shops' -> 'before' ->> 'revisit_every' FROM audit_log ORDER BY id DESC LIMIT 1"
    assert await world.conn.fetchval(noted) == "2d"


@pytest.mark.parametrize(
    ("before", "flags", "sentence"),
    [
        ("--username ann", "--token-file FILE", "username and token exclude each other"),
        ("--delay 2s", "--login-url https://id.other.example/login", "login_url is a page of id.other.example"),
        ("--delay 2s", "--prefixes notaurl", "'notaurl' is no URL of a folder"),
    ],
)
async def test_settings_that_cannot_work_are_rejected(
    forager: Any, tmp_path: Any, before: str, flags: str, sentence: str
) -> None:
    (tmp_path / "token.txt").write_text("secret")
    assert (await forager("domain", SHOP, "set", *before.split())).code == 0
    said = await forager("domain", SHOP, "set", *flags.replace("FILE", str(tmp_path / "token.txt")).split())
    assert said.code == 2
    assert sentence in said.err
    assert (await forager("domain", SHOP, "set", "--login-url", f"https://www.{SHOP}/login")).code == 0


async def test_a_reset_counts_sitemaps_apart_from_pages(forager: Any, world: Any) -> None:
    for name in ("sitemap.xml", "sitemap_index.xml"):
        await world.add_page(f"http://{SHOP}/{name}", is_sitemap=True, status="failed")
    await world.add_page(f"http://{SHOP}/broken", status="failed")
    before = await domain(world, "frontier_size")
    done = json.loads((await forager("domain", SHOP, "reset", "--reason", "review", "--json")).out)
    assert (done["reopened"], done["reopened_files"]) == (1, 2)
    assert await domain(world, "frontier_size") == before + 3
