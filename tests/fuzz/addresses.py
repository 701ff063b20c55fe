"""Hosts that are addresses: what our parser makes of a spelling is what the system would dial, and never more."""

import socket
from ipaddress import IPv4Address, IPv6Address

from hypothesis import strategies as st
from tests.fuzz.target import over

from forager.errors import AddressBlockedError, BadUrlError
from forager.politeness.guard import AddressGuard, host_as_ip, kind_of
from forager.urls.domain import origin_of
from forager.urls.normalize import normalize

NUMBERS = st.one_of(
    st.integers(0, 2**32 + 5),
    st.integers(0, 300),
    st.sampled_from([0, 10, 127, 169, 172, 192, 254, 0x7F000001, 0xA9FEA9FE]),
)
SPELLED = NUMBERS.flatmap(lambda number: st.sampled_from([str(number), hex(number), f"0{number:o}", f"{number:09o}"]))
HOSTS = st.one_of(
    st.lists(SPELLED, min_size=1, max_size=5).map(".".join),
    st.lists(SPELLED, min_size=1, max_size=4).map(".".join).map(lambda host: host + "."),
    st.ip_addresses().map(lambda ip: f"[{ip}]" if ip.version == 6 else str(ip)),
    st.ip_addresses(v=4).map(lambda ip: f"[::ffff:{ip}]"),
)
PUBLIC = AddressGuard([], [80, 443])


@over(HOSTS)
def hosts_are_what_the_system_says(host: str) -> None:
    try:
        name = origin_of(normalize(f"http://{host}/")).removeprefix("http://")
    except BadUrlError:
        return
    ip = host_as_ip(name)
    assert ip is not None, "what is spelled in numbers is an address or nothing"
    assert ip == _dialled(host)
    try:
        PUBLIC.check_ip(ip, 80)
    except AddressBlockedError:
        return
    assert ip.is_global
    assert not ip.is_multicast
    assert kind_of(ip) is None


def _dialled(host: str) -> IPv4Address | IPv6Address:
    if host.startswith("["):
        return IPv6Address(host[1:-1])
    return IPv4Address(socket.inet_aton(host.removesuffix(".")))
