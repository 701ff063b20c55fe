"""HARDENING 1–3, 6, 8: which addresses may be dialled, however they are spelled."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from forager.errors import AddressBlockedError, BadUrlError
from forager.politeness.guard import FORBIDDEN, AddressGuard, host_as_ip
from forager.urls.domain import origin_of
from forager.urls.normalize import normalize

PORTS = (80, 443, 8080)
GUARD = AddressGuard((), PORTS)


def refuses(ip: str | IPv4Address | IPv6Address, port: int = 80, guard: AddressGuard = GUARD) -> bool:
    try:
        guard.check_ip(ip, port)
    except AddressBlockedError:
        return True
    return False


# Written down apart from the guard's own table: the IANA registries, as of 2025, and what Forager adds.
NOT_PUBLIC = [
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
    "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
    "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "255.255.255.255/32",
    "168.63.129.16/32",
    "::/128", "::1/128", "::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64",
    "100:0:0:1::/64", "2001::/23", "2001::/32", "2001:1::1/128", "2001:2::/48", "2001:3::/32", "2001:4:112::/48",
    "2001:10::/28", "2001:20::/28", "2001:30::/28", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
    "5f00::/16", "fc00::/7", "fd00:ec2::254/128", "fe80::/10", "fec0::/10", "ff00::/8", "4000::/2", "8000::/1",
]  # fmt: skip
PUBLIC = [
    "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
    "169.253.255.255", "172.15.255.255", "172.32.0.0", "192.0.1.1", "192.167.255.255", "198.17.255.255", "198.20.0.0",
    "223.255.255.255", "2001:4860:4860::8888", "2606:4700::1111", "2a00::1", "2001:200::1", "2003::1", "3ff0::1",
]  # fmt: skip


@st.composite
def addresses_in(draw: st.DrawFn, networks: list[str]) -> IPv4Address | IPv6Address:
    text = draw(st.sampled_from(networks))
    network: IPv4Network | IPv6Network = IPv6Network(text) if ":" in text else IPv4Network(text)
    offset = draw(st.integers(0, network.num_addresses - 1))
    return network[offset]


@given(addresses_in(NOT_PUBLIC))
@settings(max_examples=1000, deadline=None)
def test_every_address_that_is_not_public_is_refused(ip: IPv4Address | IPv6Address) -> None:
    assert refuses(ip)
    assert refuses(ip.exploded)


@pytest.mark.parametrize("network", NOT_PUBLIC)
def test_first_and_last_address_of_each_network(network: str) -> None:
    block = IPv6Network(network) if ":" in network else IPv4Network(network)
    assert refuses(block[0])
    assert refuses(block[-1])


@pytest.mark.parametrize("ip", PUBLIC)
def test_public_addresses_pass(ip: str) -> None:
    GUARD.check_ip(ip, 80)
    GUARD.check_ip(ip_address(ip), 443)


@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6), st.ip_addresses(v=6, network="2000::/3")))
@settings(max_examples=1000, deadline=None)
@example(ip_address("2001:1ff:ffff::"))
@example(ip_address("192.88.99.1"))
def test_the_guard_is_never_laxer_than_the_standard_library(ip: IPv4Address | IPv6Address) -> None:
    if not ip.is_global or ip.is_multicast or ip.is_reserved:
        assert refuses(ip)


@given(st.ip_addresses(v=4))
@settings(deadline=None)
def test_no_ipv4_address_gets_through_in_an_ipv6_coat(ip: IPv4Address) -> None:
    number = int(ip)
    for coat in (
        IPv6Address(0xFFFF << 32 | number),
        IPv6Address(number),
        IPv6Address((0x64FF9B << 96) | number),
        IPv6Address(0x2002 << 112 | number << 80 | 1),
        IPv6Address(0x20010000 << 96 | (number ^ 0xFFFFFFFF)),
    ):
        assert refuses(coat)
        assert refuses(coat, guard=AddressGuard(["0.0.0.0/0"], PORTS))


def test_the_table_names_narrow_networks_before_wide_ones() -> None:
    for at, (network, _) in enumerate(FORBIDDEN):
        for earlier, _ in FORBIDDEN[:at]:
            assert not (network.version == earlier.version and network.subnet_of(earlier))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ip", "sentence"),
    [
        ("127.0.0.1", "127.0.0.1 is a loopback address; add it to fetch.allow_networks to crawl it."),
        ("169.254.169.254", "169.254.169.254 is a cloud metadata address; add it to fetch.allow_networks to crawl it."),
        ("fd00:ec2::254", "fd00:ec2::254 is a cloud metadata address; add it to fetch.allow_networks to crawl it."),
        ("2001:0:1::1", "2001:0:1::1 is a Teredo address; add it to fetch.allow_networks to crawl it."),
        ("4000::1", "4000::1 is no public address; add it to fetch.allow_networks to crawl it."),
        ("fe80::1%eth0", "fe80::1%eth0 is bound to one network interface; such addresses are never dialled."),
        ("site.example", "'site.example' is no IP address."),
        ("0177.0.0.1", "'0177.0.0.1' is no IP address."),
        ("", "'' is no IP address."),
    ],
)
def test_a_refusal_says_what_and_why(ip: str, sentence: str) -> None:
    with pytest.raises(AddressBlockedError) as refusal:
        GUARD.check_ip(ip, 80)
    assert str(refusal.value) == sentence


def test_ports_outside_the_list_are_refused() -> None:
    with pytest.raises(
        AddressBlockedError, match=r"^Port 22 of 8\.8\.8\.8 is none of the allowed ones \(80, 443, 8080\)"
    ):
        GUARD.check_ip("8.8.8.8", 22)
    assert refuses("8.8.8.8", 0)


def test_allowed_networks_win_on_any_port() -> None:
    guard = AddressGuard(["127.0.0.0/24", "10.1.2.3", "::1"], PORTS)
    for ip in ("127.0.0.7", "10.1.2.3", "::1"):
        assert not refuses(ip, 12345, guard)
    for ip in ("127.0.1.1", "10.1.2.4", "::2", "::ffff:127.0.0.1", "64:ff9b::7f00:1"):
        assert refuses(ip, 80, guard)
    assert refuses("8.8.8.8", 12345, guard)


def test_an_embedded_form_is_allowed_only_by_its_own_network() -> None:
    assert not refuses("::ffff:127.0.0.1", 80, AddressGuard(["::ffff:7f00:0/104"], PORTS))


def test_a_scoped_address_is_refused_even_in_an_allowed_network() -> None:
    assert refuses("fe80::1%eth0", 80, AddressGuard(["fe80::/10"], PORTS))


def test_one_bad_address_spoils_an_answer() -> None:
    """DNS rebinding: a name with a public and a private record."""
    GUARD.check_all(["8.8.8.8", "2606:4700::1111"], 443)
    with pytest.raises(AddressBlockedError, match=r"10\.0\.0\.1 is a private address"):
        GUARD.check_all(["8.8.8.8", "10.0.0.1"], 443)
    with pytest.raises(AddressBlockedError, match="no address"):
        GUARD.check_all([], 443)


@pytest.mark.parametrize(
    ("url", "ip"),
    [
        ("http://127.0.0.1/", "127.0.0.1"),
        ("http://2130706433/", "127.0.0.1"),
        ("http://0177.0.0.1/", "127.0.0.1"),
        ("http://017700000001/", "127.0.0.1"),
        ("http://0x7f.1/", "127.0.0.1"),
        ("http://0x7F000001/", "127.0.0.1"),
        ("http://127.1/", "127.0.0.1"),
        ("http://127.0.1/", "127.0.0.1"),
        ("http://127.0.0.1./", "127.0.0.1"),
        ("http://１２７.０.０.１/", "127.0.0.1"),
        ("http://①②⑦.⓪.⓪.①/", "127.0.0.1"),
        ("http://127。0。0。1/", "127.0.0.1"),
        ("http://127．0．0．1/", "127.0.0.1"),
        ("http://%31%32%37.0.0.1/", "127.0.0.1"),
        ("http://127%2E0%2e0.1/", "127.0.0.1"),
        ("http://127.0.0.1:80\\@8.8.8.8/", "127.0.0.1"),
        ("http://127.0.0.1#@8.8.8.8/", "127.0.0.1"),
        ("http://127.0.0.1?@8.8.8.8/", "127.0.0.1"),
        ("http://8.8.8.8@127.0.0.1/", "127.0.0.1"),
        ("http://8.8.8.8:80@127.0.0.1:80/", "127.0.0.1"),
        ("http://127.0.0.1\t/", "127.0.0.1"),
        ("http:127.0.0.1/", "127.0.0.1"),
        ("http:\\\\127.0.0.1\\", "127.0.0.1"),
        ("http://0/", "0.0.0.0"),
        ("http://0.0.0.0/", "0.0.0.0"),
        ("http://169.254.169.254/latest/meta-data/", "169.254.169.254"),
        ("http://0xA9FEA9FE/", "169.254.169.254"),
        ("http://[::1]/", "::1"),
        ("http://[0:0:0:0:0:0:0:1]/", "::1"),
        ("http://[::]/", "::"),
        ("http://[::ffff:127.0.0.1]/", "::ffff:7f00:1"),
        ("http://[::127.0.0.1]/", "::7f00:1"),
        ("http://[64:ff9b::127.0.0.1]/", "64:ff9b::7f00:1"),
        ("http://[2002:7f00:1::]/", "2002:7f00:1::"),
        ("http://[fe80::1]/", "fe80::1"),
        ("http://10.1/", "10.0.0.1"),
        ("http://3232235777/", "192.168.1.1"),
    ],
)
def test_no_spelling_of_a_forbidden_address_gets_through(url: str, ip: str) -> None:
    found = host_as_ip(host_of(url))
    assert found == ip_address(ip)
    assert refuses(found)


@pytest.mark.parametrize(
    ("url", "ip"),
    [("http://8.8.8.8/", "8.8.8.8"), ("http://134744072/", "8.8.8.8"), ("http://127.0.0.1@8.8.8.8/", "8.8.8.8")],
)
def test_public_addresses_pass_in_any_spelling(url: str, ip: str) -> None:
    found = host_as_ip(host_of(url))
    assert found == ip_address(ip)
    assert not refuses(found)


@pytest.mark.parametrize("host", ["site.example", "localhost", "127.0.0.1.nip.example", "xn--mnchen-3ya.de", "a1"])
def test_a_name_is_no_address(host: str) -> None:
    assert host_as_ip(host_of(f"http://{host}/")) is None


@pytest.mark.parametrize(
    "url", ["http://256.1.1.1/", "http://127.0.0.0.1/", "http://[fe80::1%25eth0]/", "http://0x.1.x.09/"]
)
def test_broken_addresses_are_no_urls(url: str) -> None:
    with pytest.raises(BadUrlError):
        normalize(url)


@given(st.integers(0, 2**32 - 1), st.data())
@settings(deadline=None)
def test_every_way_to_write_an_ipv4_address_is_read_alike(number: int, data: st.DataObject) -> None:
    ip = IPv4Address(number)
    kept = data.draw(st.integers(0, 3))
    parts = [*ip.packed[:kept], number & (2 ** (8 * (4 - kept)) - 1)]
    spelled = ".".join(data.draw(st.sampled_from([str(part), hex(part), f"0{part:o}"])) for part in parts)
    assert host_as_ip(host_of(f"http://{spelled}/")) == ip


def host_of(url: str) -> str:
    name = origin_of(url).partition("://")[2]
    return name if name.endswith("]") else name.partition(":")[0] if "[" not in name else name.rpartition(":")[0]


@pytest.mark.parametrize(
    ("host", "port"),
    [
        *(("localhost", 80), ("LOCALHOST.", 80), ("app.localhost", 443), ("ip6-localhost", 80), ("127.0.0.1", 80)),
        *(("metadata.google.internal", 80), ("169.254.169.254", 80), ("[::1]", 80), ("host.docker.internal", 80)),
        *(("hooks.example", 25), ("10.0.0.1", 443)),
    ],
)
def test_a_host_that_can_never_be_dialled(host: str, port: int) -> None:
    with pytest.raises(AddressBlockedError):
        AddressGuard((), (80, 443)).check_host(host, port)


def test_a_host_that_may_be_dialled() -> None:
    AddressGuard((), (80, 443)).check_host("hooks.example", 443)
    AddressGuard(("127.0.0.0/8",), (80,)).check_host("localhost", 9000)
    AddressGuard(("10.0.0.0/8",), (80,)).check_host("hooks.example", 25)  # it may lead there


def test_without_a_contact_no_name_of_others_may_be_dialled() -> None:
    with pytest.raises(AddressBlockedError, match="no contact is set"):
        AddressGuard((), (80, 443), is_anonymous=True).check_host("hooks.example", 443)
    AddressGuard(("10.0.0.0/8",), (443,), is_anonymous=True).check_host("hooks.example", 443)
