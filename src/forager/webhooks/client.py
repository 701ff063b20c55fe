"""One call to one webhook: a signed POST of a JSON document through the guarded client. Follows no redirect, and reads
no more of the answer than its status.

    Forager-Delivery:  4711                          the same for every try of one call
    Forager-Signature: t=1763280000,v1=5f2b…,v1=9a…  HMAC-SHA256 of "<t>.<body>" in hex, once for each key

A receiver computes the HMAC of the body as it came with the key it knows, compares it in constant time with each v1,
and refuses what is older than some minutes. Who tells something else than tasks calls `deliver` with its own document.
"""

import hashlib
import hmac
from collections.abc import Sequence

from forager import clock
from forager.fetch.client import Client

DELIVERY, SIGNATURE = "Forager-Delivery", "Forager-Signature"
MOST_BYTES = 4096
"""Of the answer."""


def sign(body: bytes, keys: Sequence[bytes], at: int) -> str:
    """The value of the header. `at` are seconds since 1970."""
    signed = str(at).encode() + b"." + body
    marks = [hmac.new(key, signed, hashlib.sha256).hexdigest() for key in keys]
    return ",".join([f"t={at}", *(f"v1={mark}" for mark in marks)])


async def deliver(client: Client, url: str, body: bytes, *, keys: Sequence[bytes], number: int) -> int:
    """The status code of the answer; raises VisitError where there was none. Without keys it goes unsigned."""
    headers = {"Content-Type": "application/json", DELIVERY: str(number)}
    if keys:
        headers[SIGNATURE] = sign(body, keys, int(clock.now().timestamp()))
    answer = await client.post(url, body, headers=headers, cut_at=MOST_BYTES)
    return answer.status_code
