"""Every command that a message advises is run. What begins or ends something large is run in the state in which it is
advised by `tests/acceptance/test_advice.py` and the acceptance tests of its own."""

from typing import Any

from tests.integration.world import SEED, World
from tests.unit.cli.test_hints import advised, command_of

ELSEWHERE = (
    *("--help", "api", "up", "worker", "demo", "playground", "crawl", "refresh", "fetch", "seed --sitemap"),
    *("db", "backup", "restore", "archive", "purge", "replay", "reindex", "repair", "recover", "schedule run", "queue"),
    *("domains merge", "domains rebuild", "errors --dead --redrive", "errors FINGERPRINT", "proxies probe", "export"),
    *("user invite", "user enable", "user reset-password", "tasks submit", "tasks restart", "tasks resume"),
    *("webhooks key", "domain NAME release TRAP", "domain NAME VERB", "proxies unassign", "check --deep"),
    *("domains allow", "completion", "settings NAME", "alerts tell", "proxies add", "token create"),
    *("domain NAME login", "domain word login", "domain word set --login-url", "profiles apply", "profiles set"),
    *("proxies assign", "profiles leave", "body", "init extractor", "test", "mcp"),
)
"""How these begin: processes that stay, requests to sites, changes that have tests of their own."""
NAMED = {"domain NAME set", "links", "proxies add", "seed"}
"""Names of commands that want something, though no parameter of theirs is required."""
PAGE = f"{SEED}about"
VALUES = {"NAME": "shop.example", "a.example": "shop.example", "word": "shop.example", "URL": PAGE, "WORDS": "shop"}


def is_run_here(hint: str) -> bool:
    words = hint.removeprefix("forager ")
    return not any(words == start or words.startswith(f"{start} ") for start in ELSEWHERE)


def is_whole(words: list[str]) -> bool:
    """Whether it can be run as it stands: else it is the name of a command, or of a group, in a sentence."""
    found = command_of(words)
    if found is None or " ".join(words) in NAMED:
        return False
    name, command = found
    given = [word for word in words[len(name.split()) :] if not word.startswith("-")]
    wanted = [parameter for parameter in command.params if parameter.required and parameter.name not in {"name"}]
    return len(given) >= len(wanted)


async def test_what_a_message_advises_works(forager: Any, world: World) -> None:
    task = await world.conn.fetchval("SELECT max(id) FROM crawl_tasks WHERE outcome IS NOT NULL")
    values = VALUES | {"ID": str(task)}
    whole = [words for hint in sorted(filter(is_run_here, advised())) if is_whole(words := hint.split()[1:])]
    commands = sorted({tuple(values.get(word, word) for word in words) for words in whole})
    failed = {}
    for command in commands:
        said = await forager(*command)
        if said.code:
            failed[command] = said.err
    assert "\n".join(" ".join(each) for each in failed) == ""


def test_most_of_what_is_advised_is_run_here() -> None:
    here = set(filter(is_run_here, advised()))
    assert len(here) > len(advised()) / 3
    assert all(any(hint.removeprefix("forager ").startswith(start) for hint in advised()) for start in ELSEWHERE)
