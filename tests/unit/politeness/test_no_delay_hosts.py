"""Who is crawled without pace."""

import pytest

from forager.politeness.no_delay_hosts import has_no_delay


@pytest.mark.parametrize(
    ("domain", "entries", "unpaced"),
    [
        ("bench.example", ["bench.example"], True),
        ("bench.example:8080", ["bench.example"], True),
        ("bench.example:8080", ["bench.example:8080"], True),
        ("bench.example:8081", ["bench.example:8080"], False),
        ("bench.example", ["bench.example:8080"], False),
        ("bench.example", ["bench.example:80"], True),
        ("bench.example", [" WWW.Bench.Example. "], True),
        ("a.bench.example", ["bench.example"], False),
        ("notbench.example", ["bench.example"], False),
        ("127.0.0.1:8080", ["127.0.0.1"], True),
        ("127.0.0.1:8080", ["127.0.0.1:8080"], True),
        ("127.0.0.1:8081", ["127.0.0.1:8080"], False),
        ("127.0.0.9:8080", ["127.0.0.0/8"], True),
        ("128.0.0.9:8080", ["127.0.0.0/8"], False),
        ("[::1]:8080", ["::1"], True),
        ("[::1]:8080", ["[::1]:8080"], True),
        ("[::1]:8080", ["[::1]"], True),
        ("[::1]", ["::/64", "127.0.0.0/8"], True),
        ("[::1]:8080", ["[::2]:8080"], False),
        ("bench.example", [], False),
        ("bench.example", ["127.0.0.0/8"], False),
    ],
)
def test_by_name_or_address(domain: str, entries: list[str], unpaced: bool) -> None:
    assert has_no_delay(domain, entries) is unpaced


def test_a_name_is_exempt_when_all_its_addresses_are() -> None:
    assert has_no_delay("bench.example", ["127.0.0.0/8"], ["127.0.0.1", "127.0.0.2"])
    assert not has_no_delay("bench.example", ["127.0.0.0/8"], ["127.0.0.1", "8.8.8.8"])


def test_an_address_is_judged_by_itself() -> None:
    assert not has_no_delay("8.8.8.8", ["127.0.0.0/8"], ["127.0.0.1"])
