"""Delivers webhook calls: with the crawler's address guard, short timeouts, and keys derived from the settings."""

import asyncio
import hashlib
import hmac
from collections.abc import Sequence

from forager.config.keys import ensure_key
from forager.config.settings import Settings
from forager.errors import AddressBlockedError, VisitError
from forager.fetch.client import Client, open_client
from forager.politeness.guard import guard_from_settings as guard_of
from forager.webhooks import notifiers
from forager.webhooks.client import deliver
from forager.webhooks.store import CallResult, DueCall

PURPOSE = b"forager: webhooks"
KEY_FILE = "webhook.key"
MARK_LENGTH = 16
TIMEOUT_S, CONNECT_TIMEOUT_S = 5.0, 3.0
GONE = 410


async def call_webhooks(settings: Settings, calls: Sequence[DueCall]) -> list[CallResult]:
    """Makes all calls concurrently. Never raises because of a receiver."""
    keys = signing_keys(settings)
    guard = guard_of(settings)
    async with open_client(
        user_agent=settings.agent_header,
        check_address=guard.check_ip,
        timeout_s=TIMEOUT_S,
        connect_timeout_s=CONNECT_TIMEOUT_S,
        max_bytes=4096,
        keeps_cookies=False,
    ) as client:
        return list(await asyncio.gather(*(_call(client, call, keys) for call in calls)))


async def _call(client: Client, call: DueCall, keys: Sequence[bytes]) -> CallResult:
    if (sent := await notifiers.send(call)) is not None:
        return sent
    try:
        status = await deliver(client, call.url, call.payload.encode(), keys=keys, number=call.id)
    except AddressBlockedError as error:
        return CallResult(call, None, str(error), is_hopeless=False)
    except VisitError as error:
        return CallResult(call, None, str(error))
    if 200 <= status < 300:
        return CallResult(call, status, None)
    return CallResult(call, status, f"it answered {status}", is_hopeless=status == GONE)


def key_marks(settings: Settings) -> tuple[str, ...]:
    """Returns fingerprints that distinguish the keys of two instances without revealing them. Creates no key:
    without one, nothing was signed."""
    has_key = settings.secret_key or (settings.home / KEY_FILE).is_file()
    return tuple(hashlib.sha256(key).hexdigest()[:MARK_LENGTH] for key in signing_keys(settings)) if has_key else ()


def signing_keys(settings: Settings) -> list[bytes]:
    """Returns one key per secret_key, so that receivers with the old key keep working during rotation. Without any
    secret_key, returns one that is created once and kept in the data folder."""
    roots = [key.encode() for key in settings.secret_key] or [ensure_key(settings.home / KEY_FILE)]
    return [hmac.new(root, PURPOSE, hashlib.sha256).hexdigest().encode() for root in roots]
