"""A set of names in eight bytes each answers as a set of strings does."""

from hypothesis import given
from hypothesis import strategies as st
from tests.builders import a_spec

from forager.links.name_set import MutableNameSet, NameSet
from forager.links.scope import CrawlScope
from forager.runs.models import Scope

NAMES = st.sets(st.text(max_size=8), max_size=30)


@given(NAMES, NAMES)
def test_it_holds_what_was_put_in_and_nothing_else(inside: set[str], asked: set[str]) -> None:
    names = NameSet.of(inside)
    assert {name for name in inside | asked if name in names} == inside
    assert len(names) == len(inside)


def test_a_long_list_reaches_its_domains() -> None:
    spec = a_spec("https://first.example/", seeds_total=20_000, seeds_digest="x")
    reach = CrawlScope.of(spec, domains=NameSet.of(["a.example", "b.example:8080"]))
    assert reach.refusal("https://a.example/x", "a.example") is None
    assert reach.refusal("https://b.example:8080/x", "b.example:8080") is None
    assert reach.refusal("https://first.example/x", "first.example") == "scope"


def test_a_long_list_reaches_the_sub_domains_of_its_domains() -> None:
    spec = a_spec("https://first.example/", scope=Scope.DOMAIN, seeds_total=20_000, seeds_digest="x")
    reach = CrawlScope.of(spec, parents=NameSet.of(["shop.example"]))
    assert reach.refusal("https://blog.shop.example/x", "blog.shop.example") is None
    assert reach.refusal("https://shop.example/", "shop.example") is None
    assert reach.refusal("https://a.example/", "a.example") == "scope"


def test_names_that_come_later_are_members_too() -> None:
    names = MutableNameSet(NameSet.of(["a.example"]), up_to=3)
    assert "a.example" in names
    assert "b.example" not in names
    assert names.add(["a.example", "b.example"])
    assert "b.example" in names
    assert not names.add(["a.example", "b.example"])
    assert names.up_to == 3
