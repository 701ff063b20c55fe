"""Explains whether a link to a URL would be followed: file types that are not read, traps by URL pattern and by
template.

Calls the same functions as link selection. A seed is never excluded.
"""

from collections.abc import Sequence
from typing import Any

from forager import clock
from forager.db.types import Row
from forager.explain.conditions import Gate, crawl_command, domain_command
from forager.links import templates, traps
from forager.links.trap_descriptions import TRAP_WORDS
from forager.plugins import rewriting


def link_gate(url: str, domain: str, known: Sequence[Any], *, has_documents: bool = True) -> Gate:
    """`known`: the rows of the traps found in its domain; `has_documents`: whether its PDF files are read."""
    if plugin := rewriting.drop_reason_in(rewriting.rewrite(url)):
        name = plugin.removeprefix(rewriting.DROPPED)
        return Gate("link", False, f"a link to it is left out by the URL rule of the plug-in {name}")
    if traps.is_binary(url) and not (has_documents and traps.is_document(url)):
        return Gate("link", False, "a link to it is left out: it ends like a file we do not read")
    released = frozenset(row["rule"] for row in known if row["is_released"] and not row["template"])
    rule = traps.trap_in(url, clock.now().year + traps.YEARS_AHEAD, released)
    if rule == traps.SESSION_ID and (clean := traps.without_session(url)) != url:
        sentence = f"a link to it is taken without its session id, as {clean}"
        return Gate("link", False, sentence, remedy=_release_command(domain, rule, "", known) or crawl_command(clean))
    if rule is not None:
        sentence = f"a link to it is left out by the rule {rule}: {TRAP_WORDS[rule]}"
        return Gate("link", False, sentence, remedy=_release_command(domain, rule, "", known))
    for row in known:
        if not row["is_released"] and row["template"].startswith("http") and templates.matches(row["template"], url):
            return trap_gate("link", "a link to it is", domain, row)
    return Gate("link", True, "a link to it would be taken")


def trap_gate(name: str, what: str, domain: str, row: Row) -> Gate:
    words = TRAP_WORDS.get(row["rule"], row["rule"])
    sentence = f"{what} left out by trap {row['id']}, rule {row['rule']}: {words} at {row['template']}"
    return Gate(name, False, sentence, remedy=domain_command(domain, f"release {row['id']}"))


def _release_command(domain: str, rule: str, template: str, known: Sequence[Any]) -> str | None:
    """Returns the command that releases a rule, if the rule has excluded something."""
    ids = [row["id"] for row in known if row["rule"] == rule and row["template"] == template]
    return domain_command(domain, f"release {ids[0]}") if ids else None
