"""Which addresses are public: every row that some `is_global` got wrong, and the ones that must pass."""

from ipaddress import ip_address

import pytest

from service.fetch.address import is_public

PUBLIC = ["8.8.8.8", "1.1.1.1", "::ffff:8.8.8.8", "2000::1", "2001:4860:4860::8888", "2606:4700::1", "93.184.216.34"]

PRIVATE = """
127.0.0.1 127.255.255.254 0.0.0.0 0.1.2.3 10.0.0.1 172.16.0.5 172.31.255.255 192.168.1.1 100.64.0.1 100.100.100.200
169.254.169.254 198.18.0.1 198.19.255.255 192.0.2.1 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1
255.255.255.255 168.63.129.16 192.88.99.1 192.31.196.1 192.52.193.1 192.175.48.1 192.0.0.9 192.0.0.10 192.0.0.192
:: ::1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::127.0.0.1 ::ffff:0:127.0.0.1 ::ffff:100.64.0.1 ::ffff:192.0.0.192
::ffff:224.0.0.1 ::ffff:10.0.0.1 64:ff9b::7f00:1 64:ff9b::8.8.8.8 64:ff9b:1::1 2002:7f00:1:: 2002:808:808:: 2001::1
2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:10::1 2001:20::1 2001:db8::1 3fff::1 fc00::1 fd00:ec2::254
fe80::1 fe80::1%eth0 ::ffff:8.8.8.8%eth0 fec0::1 ff02::1 ff00::1 5f00::1 100::1 100:0:0:1::1 1::1 4000::1
8000::1 2620:4f:8000::1 2a00:1450::5efe:7f00:1 2a00:1450::200:5efe:7f00:1 fe80::5efe:7f00:1
""".split()


@pytest.mark.parametrize("text", PUBLIC)
def test_public(text: str) -> None:
    assert is_public(ip_address(text))


@pytest.mark.parametrize("text", PRIVATE)
def test_not_public(text: str) -> None:
    assert not is_public(ip_address(text))
