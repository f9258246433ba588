"""How often one may ask: a bucket of requests each, that fills again with time.

Buckets are kept for those who asked last, so many and no more.
"""

import ipaddress
from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_SECOND_NS: Final = 1_000_000_000
_IPV6_PREFIX: Final = 64
_NETWORKS_KNOWN: Final = 4096


@dataclass(frozen=True, slots=True)
class Rate:
    """So many a second in the long run, and ``burst`` at once."""

    per_s: float
    burst: int


@dataclass(frozen=True, slots=True)
class Limits:
    """What one address and one account may ask, and how often an address may try to sign in."""

    address: Rate = Rate(50, 400)
    account: Rate = Rate(50, 400)
    sign_in: Rate = Rate(0.2, 20)
    kept: int = 10_000
    """So many addresses, and so many accounts, are remembered."""


@dataclass(slots=True)
class _Bucket:
    left: float
    at_ns: int


class Limiter:
    """Count what each one asks."""

    def __init__(self, rate: Rate, kept: int) -> None:
        self._rate, self._kept = rate, kept
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def wait_ns(self, who: str, now_ns: int) -> int:
        """Take one from the bucket of ``who``: 0, or how long until there is one again.

        ``now_ns`` is of a clock that never goes back.
        """
        bucket = self._buckets.pop(who, None) or _Bucket(self._rate.burst, now_ns)
        gained = (now_ns - bucket.at_ns) / _SECOND_NS * self._rate.per_s
        bucket.left, bucket.at_ns = min(bucket.left + gained, self._rate.burst), now_ns
        self._buckets[who] = bucket
        if len(self._buckets) > self._kept:
            self._buckets.popitem(last=False)
        if bucket.left < 1:
            return int((1 - bucket.left) / self._rate.per_s * _SECOND_NS)
        bucket.left -= 1
        return 0


@lru_cache(_NETWORKS_KNOWN)
def limited_as(address: str) -> str:
    """Return what an address is counted as: of IPv6 the network, for a host has all of it."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((found, _IPV6_PREFIX), strict=False))
    return address
