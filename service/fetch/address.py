"""Which addresses are public: an allow-list of global unicast, decided by parsed bytes, never by text.

`ipaddress.is_global` differs by Python version and calls multicast, NAT64-embedded private addresses
and a cloud's metadata address global, so the list is our own (IANA IPv4 and IPv6 special-purpose
address registries, RFC 6890 and its updates).
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

Address = IPv4Address | IPv6Address

_NOT_PUBLIC_V4 = tuple(
    IPv4Network(net)
    for net in (
        "0.0.0.0/8",  # "this network", RFC 791
        "10.0.0.0/8",  # private, RFC 1918
        "100.64.0.0/10",  # shared by carriers, RFC 6598; a cloud's metadata at 100.100.100.200
        "127.0.0.0/8",  # loopback, RFC 1122
        "168.63.129.16/32",  # a cloud's wire server
        "169.254.0.0/16",  # link-local, RFC 3927; metadata of most clouds
        "172.16.0.0/12",  # private, RFC 1918
        "192.0.0.0/24",  # protocol assignments, RFC 6890; metadata at 192.0.0.192
        "192.0.2.0/24",  # documentation, RFC 5737
        "192.31.196.0/24",  # AS112, RFC 7535
        "192.52.193.0/24",  # AMT, RFC 7450
        "192.88.99.0/24",  # 6to4 relays, RFC 7526
        "192.168.0.0/16",  # private, RFC 1918
        "192.175.48.0/24",  # AS112, RFC 7534
        "198.18.0.0/15",  # benchmarks, RFC 2544
        "198.51.100.0/24",  # documentation, RFC 5737
        "203.0.113.0/24",  # documentation, RFC 5737
        "224.0.0.0/3",  # multicast, RFC 1112; reserved; broadcast
    )
)

_GLOBAL_V6 = IPv6Network("2000::/3")  # the only block given out for global unicast, RFC 4291
_NOT_PUBLIC_V6 = tuple(
    IPv6Network(net)
    for net in (
        "2001::/23",  # protocol assignments: Teredo, ORCHID, benchmarks, RFC 2928
        "2001:db8::/32",  # documentation, RFC 3849
        "2002::/16",  # 6to4 carries any IPv4 address, RFC 3056
        "2620:4f:8000::/48",  # AS112, RFC 7534
        "3fff::/20",  # documentation, RFC 9637
    )
)


def is_public(address: Address) -> bool:
    """Whether an address is global unicast and carries no other address inside.

    An IPv4-mapped address is judged by the IPv4 address in it; NAT64, 6to4, Teredo, ISATAP and
    IPv4-compatible forms are refused whole.
    """
    if isinstance(address, IPv6Address):
        if address.scope_id is not None:
            return False
        mapped = address.ipv4_mapped
        if mapped is not None:
            return is_public(mapped)
        if address not in _GLOBAL_V6:
            return False
        # ISATAP, RFC 5214: an interface identifier of 0000:5efe or 0200:5efe and an IPv4 address.
        if int(address) >> 32 & 0xFDFFFFFF == 0x00005EFE:
            return False
        return not any(address in net for net in _NOT_PUBLIC_V6)
    return not any(address in net for net in _NOT_PUBLIC_V4)
