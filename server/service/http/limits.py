"""Rate limits: a token bucket for each address and account.

Only the buckets of the most recent clients are kept.
"""

import ipaddress
from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Protocol

from stream.clock import elapsed_ns

_SECOND_NS: Final = 1_000_000_000
_IPV6_PREFIX: Final = 64
_NETWORKS_KNOWN: Final = 4096


@dataclass(frozen=True, slots=True)
class Rate:
    """The rate: requests a second in the long run, and ``burst`` at once."""

    per_s: float
    burst: int


@dataclass(frozen=True, slots=True)
class Limits:
    """The rates of requests for an address and for an account, and of sign-ins for an address."""

    address: Rate = Rate(50, 400)
    account: Rate = Rate(50, 400)
    sign_in: Rate = Rate(0.2, 20)
    kept: int = 10_000
    """Addresses, and accounts, whose buckets are kept."""


@dataclass(slots=True)
class _Bucket:
    left: float
    at_ns: int


class Limiter:
    """Counts each client's requests."""

    def __init__(self, rate: Rate, kept: int) -> None:
        self._rate, self._kept = rate, kept
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def wait_ns(self, who: str, now_ns: int) -> int:
        """Take a token from the bucket of ``who``: return 0, or the time until there is one.

        ``now_ns`` is of a monotonic clock.
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


class Turnstile(Protocol):
    """Counts each client's requests, here or together with other services."""

    async def wait_ns(self, who: str) -> int:
        """Take a token of ``who``: return 0, or the nanoseconds until there is one."""


class OwnTurnstile:
    """Counts the requests to this service alone."""

    def __init__(self, rate: Rate, kept: int) -> None:
        self._limiter = Limiter(rate, kept)

    async def wait_ns(self, who: str) -> int:
        """Take a token of ``who``: return 0, or the nanoseconds until there is one."""
        return self._limiter.wait_ns(who, elapsed_ns())


@lru_cache(_NETWORKS_KNOWN)
def limited_as(address: str) -> str:
    """Return the key of an address: for IPv6 the network, since a host has all of it."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((found, _IPV6_PREFIX), strict=False))
    return address
