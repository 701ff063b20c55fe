"""Profiles from a file: the same file again changes nothing, domains join before they are known, one profile each."""

from typing import Any

import pytest
from tests.integration.domains.test_service import RESTS, SHOP, do

from forager.config.settings import Settings
from forager.domains.profiles import apply_profiles, change_profile, delete_profile, read_profiles, show_profile
from forager.domains.queries import effective_settings
from forager.domains.service import configure
from forager.errors import ConflictError, NotFoundError, UsageError

BOTH = f"""
[profile.daily]
every = "1d"
max_pages = 500
max_pages_per = "day"
domains = ["{SHOP}", "*.later.example"]

[profile.slow]
delay = "5s"
"""


async def apply(world: Any, text: str, **more: Any) -> Any:
    return await do(world, apply_profiles, read_profiles(text), **RESTS, **more)


async def effective(world: Any, name: str) -> dict[str, tuple[Any, str]]:
    found = await effective_settings(world.conn, name, Settings())
    return {row["name"]: (row["value"], row["origin"]) for row in found["settings"]}


async def test_a_file_declares_profiles_and_their_domains(world: Any) -> None:
    applied = await apply(world, BOTH)
    assert [(change.name, change.is_new, change.joined) for change in applied.changes] == [
        ("daily", True, ("*.later.example", SHOP)),
        ("slow", True, ()),
    ]
    assert applied.domains == 1
    assert (await effective(world, SHOP))["max_pages"] == (500, "profile daily")
    assert (await show_profile(world.conn, "daily", RESTS["cipher"]))["domain_names"] == [SHOP]


async def test_the_same_file_again_changes_nothing(world: Any) -> None:
    await apply(world, BOTH)
    before = await world.conn.fetch("SELECT * FROM profiles ORDER BY name")
    again = await apply(world, BOTH)
    assert (all(change.is_empty for change in again.changes), again.domains) == (True, 0)
    assert await world.conn.fetch("SELECT * FROM profiles ORDER BY name") == before


async def test_a_dry_run_says_what_would_change_and_changes_nothing(world: Any) -> None:
    await apply(world, BOTH)
    edited = BOTH.replace("max_pages = 500", "max_pages = 5").replace(f'"{SHOP}", ', "")
    (daily, slow) = (await apply(world, edited, is_dry_run=True)).changes
    assert (daily.settings, daily.left, slow.is_empty) == ({"max_pages": 5}, (SHOP,), True)
    assert (await effective(world, SHOP))["max_pages"] == (500, "profile daily")


async def test_what_was_chosen_for_a_domain_stands_before_its_profile(world: Any) -> None:
    await apply(world, BOTH)
    await do(world, configure, SHOP, {"max_pages": 7}, **RESTS)
    assert (await effective(world, SHOP))["max_pages"] == (7, "domain")
    assert (await effective(world, SHOP))["max_pages_per"] == ("day", "profile daily")


async def test_a_domain_that_leaves_its_profile_has_the_defaults_again(world: Any) -> None:
    await apply(world, BOTH)
    assert (await apply(world, BOTH.replace(f'"{SHOP}", ', ""))).domains == 1
    assert (await effective(world, SHOP))["max_pages"][1] == "default"


async def test_settings_are_known_before_the_domain_is(world: Any) -> None:
    await apply(world, BOTH)
    assert (await effective(world, "https://www.shop1.later.example/x"))["revisit_every"] == ("1d", "profile daily")
    with pytest.raises(NotFoundError, match="There is no domain"):
        await effective(world, "other.example")


async def test_a_domain_is_in_one_profile(world: Any) -> None:
    await apply(world, BOTH)
    with pytest.raises((UsageError, ConflictError), match="daily"):
        await apply(world, f'[profile.slow]\ndelay = "5s"\ndomains = ["{SHOP}"]')


async def test_a_deleted_profile_leaves_what_was_chosen_for_its_domains(world: Any) -> None:
    await apply(world, BOTH)
    await do(world, configure, SHOP, {"max_pages": 7}, **RESTS)
    assert await do(world, delete_profile, "daily", **RESTS) == 1
    settings = await effective(world, SHOP)
    assert (settings["max_pages"], settings["revisit_every"][1]) == ((7, "domain"), "default")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "declares no profile"),
        ("[profiles.x]", "write \\[profile.NAME\\]"),
        ("[profile.x]\nbudget_period = 1", "profile x: There is no crawl setting 'budget_period'. Did you mean"),
        ('[profile.x]\ndelay = "soon"', "profile x: delay"),
        ('[profile.x]\ndomains = "shop.example"', "no list of names"),
        ('[profile.x]\ndomains = ["a.example"]\n[profile.y]\ndomains = ["a.example"]', "a.example"),
    ],
)
def test_a_wrong_file_is_rejected_with_a_sentence(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_profiles(text)


@pytest.mark.parametrize("name", ["not a domain!!", "http://", "a b.example", "*/x", "", "x" * 300])
def test_what_is_no_name_and_no_pattern_is_rejected(name: str) -> None:
    with pytest.raises(UsageError, match="is no name of a domain and no pattern"):
        read_profiles(f'[profile.x]\ndomains = ["{name}"]')


def test_names_are_read_like_those_of_domains() -> None:
    (spec,) = read_profiles(
        "[profile.x]\ndomains = ['https://www.Shop.example/x', 'shop.example:8443', '*.b.example:80*']"
    )
    assert spec.members == ("shop.example", "shop.example:8443", "*.b.example:80*")


async def test_a_domain_joins_only_a_profile_that_there_is(world: Any) -> None:
    await apply(world, BOTH)
    with pytest.raises(NotFoundError, match="There is no profile 'dayly'; there are daily, slow"):
        await do(world, change_profile, "dayly", join=["a.example"], **RESTS)
    await do(world, change_profile, "daily", join=["a.example"], **RESTS)
    assert "a.example" in (await show_profile(world.conn, "daily", RESTS["cipher"]))["members"]
