"""Secrets of sessions, tokens and links: 256 random bits each, of which the database keeps the SHA-256 only.

A hash without salt and cost is enough here: nobody guesses 256 bits.
"""

import hashlib
import hmac
import secrets

TOKEN_PREFIX = "fgr_"  # noqa: S105 (a prefix, so that a leaked token is recognised by scanners)
SECRET_BYTES = 32
LONGEST = 200


def new_secret() -> str:
    return secrets.token_urlsafe(SECRET_BYTES)


def new_token() -> str:
    return TOKEN_PREFIX + new_secret()


def hash_of(secret: str) -> bytes:
    return hashlib.sha256(secret.encode(errors="replace")).digest()


def csrf_token(session_secret: str) -> str:
    """What a page that holds the session sends back in a header, and a foreign page cannot know. From the session's
    secret, which it does not betray; so it needs no place of its own and changes with the session."""
    return hmac.new(session_secret.encode(errors="replace"), b"forager: csrf", hashlib.sha256).hexdigest()


def is_csrf_token(given: str, session_secret: str) -> bool:
    return hmac.compare_digest(given.encode(errors="replace"), csrf_token(session_secret).encode())
