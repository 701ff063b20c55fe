"""Secrets of sessions, tokens and links: 256 random bits each, of which the database stores only the SHA-256.

A hash without salt and cost factor is enough: 256 bits cannot be guessed.
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
    """Returns the token that a page with this session sends in a header, and that a page of another site cannot know.
    It is derived from the session's secret, without revealing it; it needs no storage and changes with the session."""
    return hmac.new(session_secret.encode(errors="replace"), b"forager: csrf", hashlib.sha256).hexdigest()


def is_csrf_token(given: str, session_secret: str) -> bool:
    return hmac.compare_digest(given.encode(errors="replace"), csrf_token(session_secret).encode())
