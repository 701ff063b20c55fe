"""Sends one webhook call: a signed POST of a JSON document through the guarded client. Does not follow redirects, and
uses only the status of the response.

    Forager-Delivery:  4711                          the same for every attempt of one call
    Forager-Signature: t=1763280000,v1=5f2b…,v1=9a…  HMAC-SHA256 of "<t>.<body>" in hex, once for each key

A receiver computes the HMAC of the raw body with its key, compares it in constant time with each v1, and rejects
signatures older than a few minutes. For events other than tasks, call `deliver` with another document.
"""

import hashlib
import hmac
from collections.abc import Sequence

from forager import clock
from forager.fetch.client import Client

DELIVERY, SIGNATURE = "Forager-Delivery", "Forager-Signature"
MOST_BYTES = 4096
"""Of the response."""


def sign(body: bytes, keys: Sequence[bytes], at: int) -> str:
    """Returns the header value. `at` is in seconds since 1970."""
    signed = str(at).encode() + b"." + body
    marks = [hmac.new(key, signed, hashlib.sha256).hexdigest() for key in keys]
    return ",".join([f"t={at}", *(f"v1={mark}" for mark in marks)])


async def deliver(client: Client, url: str, body: bytes, *, keys: Sequence[bytes], number: int) -> int:
    """Returns the status code of the response; raises VisitError if there is none. Without keys, the call is
    unsigned."""
    headers = {"Content-Type": "application/json", DELIVERY: str(number)}
    if keys:
        headers[SIGNATURE] = sign(body, keys, int(clock.now().timestamp()))
    answer = await client.post(url, body, headers=headers, cut_at=MOST_BYTES)
    return answer.status_code
