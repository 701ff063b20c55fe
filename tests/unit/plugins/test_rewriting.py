"""URL rules of plug-ins: links, redirects and seeds have one form, and what is dropped has a reason."""

import pytest
from tests.builders import HOME, a_reading, a_spec, a_target
from tests.unit.plugins.conftest import Install

from forager.errors import BadUrlError
from forager.explain.why_traps import link_gate
from forager.links.scope import CrawlScope
from forager.links.select import Selector
from forager.parsing.models import FoundLink
from forager.plugins import guards, registry, rewriting
from forager.seeds.found import to_url
from forager.urls.rules import UrlRules

RULE = """
@forager.hookimpl
def rewrite_url(url):
    if "/print/" in url:
        return False
    return url.replace("//m.a.example", "//a.example").replace("/amp", "")
"""


def a_selector() -> Selector:
    return Selector(CrawlScope.of(a_spec(HOME)), max_links_per_page=100)


def a_rule(body: str) -> str:
    return f"@forager.hookimpl\ndef rewrite_url(url):\n    {body}"


def test_links_of_a_page_are_rewritten_once_each_and_dropped_by_name(install: Install) -> None:
    install(shop=RULE)
    found = a_selector().select(
        a_reading("/tea/amp", "http://m.a.example/tea", "/tea", "/print/tea", "http://b.example/x"), a_target()
    )
    assert [link.url for link in found.links] == ["http://a.example/tea"]
    assert found.dropped == {"duplicate": 2, "plugin:shop": 1, "scope": 1}
    assert not registry.current().take_errors()


def test_redirects_files_seeds_and_look_ups_are_rewritten_too(install: Install) -> None:
    install(shop=RULE)
    selector = a_selector()
    (link,) = selector.redirect(a_target("http://a.example/x"), "http://m.a.example/y/amp").links
    assert link.url == "http://a.example/y"
    assert selector.redirect(a_target("http://a.example/x"), "/print/x").dropped == {"plugin:shop": 1}
    files = selector.select_files([FoundLink("/print/s.xml", "", "sitemap_file")], HOME, a_target())
    assert files.dropped == {"plugin:shop": 1}
    assert to_url("m.a.example/tea/amp") == "https://a.example/tea"
    assert UrlRules().normalize("http://m.a.example/print/x") == "http://m.a.example/print/x"
    with pytest.raises(BadUrlError, match="dropped by the URL rule of the plug-in shop"):
        to_url("http://a.example/print/x")


def test_why_names_the_plugin_that_drops_a_link(install: Install) -> None:
    install(shop=RULE)
    gate = link_gate("http://a.example/print/x", "a.example", [])
    assert (gate.is_open, gate.sentence) == (False, "a link to it is left out by the URL rule of the plug-in shop")


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("return url + 'x'", "NotFinalError"),
        ("return 'mailto:x@a.example'", "BadUrlError"),
        ("return 7", "TypeError"),
        ("return 1 / 0", "ZeroDivisionError"),
        ("raise SystemExit", "SystemExit"),
    ],
)
def test_a_rule_that_fails_changes_nothing_and_is_counted(body: str, error: str, install: Install) -> None:
    install(shop=a_rule(body))
    assert rewriting.rewrite("http://a.example/x") == "http://a.example/x"
    (noted,) = registry.current().take_errors()
    assert (noted.plugin, noted.hook, noted.error.partition(":")[0]) == ("shop", "rewrite_url", error)


def test_rules_that_undo_each_other_change_nothing(install: Install) -> None:
    install(
        a=a_rule("return url.replace('/x', '/y')"),
        b=a_rule("return url.replace('/y', '/x')"),
    )
    assert rewriting.rewrite("http://a.example/x") == "http://a.example/x"


@pytest.mark.parametrize("hang", ["import time; time.sleep(60)", "import re; re.match('(a|a)*b', 'a' * 64)"])
def test_a_rule_that_hangs_is_interrupted_and_not_called_again(
    hang: str, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guards, "MOST_REWRITE_S", 0.05)
    install(shop=a_rule(hang), other=a_rule("return url.replace('/x', '/y')"))
    assert rewriting.rewrite("http://a.example/x") == "http://a.example/y"
    assert rewriting.rewrite("http://a.example/x") == "http://a.example/y"
    (noted,) = registry.current().take_errors()
    assert (noted.plugin, noted.times) == ("shop", 1)


def test_without_rules_nothing_is_called(install: Install) -> None:
    install(shop="x = 'rewrite'")
    assert not rewriting.is_active()
