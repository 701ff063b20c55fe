"""Passwords at rest: encrypted with a key from the settings, decrypted only to connect to a proxy.

Several keys may be set while one is being replaced: the first encrypts, all of them decrypt. Losing them loses the
passwords.
"""

import base64
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from forager.errors import ConfigurationError

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

PURPOSE = b"forager: passwords of proxies"
HOW_TO_MAKE_ONE = "such as the output of `openssl rand -hex 32`"


class PasswordCipher:
    """Built from keys, or from a function that finds them when one is needed. Shows neither keys nor passwords."""

    def __init__(self, keys: Sequence[str] | Callable[[], Sequence[str]]) -> None:
        self._find = keys if callable(keys) else lambda: keys
        self._found: tuple[str, ...] = ()

    @property
    def _keys(self) -> tuple[str, ...]:
        self._found = self._found or tuple(self._find())
        return self._found

    def encrypt(self, password: str) -> str:
        if not self._keys:
            raise ConfigurationError(
                "A proxy's password is kept encrypted, and no secret_key is set: set FORAGER_SECRET_KEY to a long "
                f"random text, {HOW_TO_MAKE_ONE}, and keep it."
            )
        return self._box.encrypt(password.encode()).decode()

    def open(self, sealed: str, whose: str) -> str:
        """Decrypts a password. `whose` is named in the error when it cannot be decrypted."""
        from cryptography.fernet import InvalidToken

        self._require_key(whose)
        try:
            return self._box.decrypt(sealed.encode()).decode()
        except InvalidToken:
            raise self._wrong_key(whose) from None

    def rotate_secret(self, sealed: str, whose: str) -> str:
        """Re-encrypts a password with the first key."""
        from cryptography.fernet import InvalidToken

        self._require_key(whose)
        try:
            return self._box.rotate(sealed.encode()).decode()
        except InvalidToken:
            raise self._wrong_key(whose) from None

    def _require_key(self, whose: str) -> None:
        if not self._keys:
            raise ConfigurationError(
                f"The password of {whose} cannot be read because no secret_key is set: set FORAGER_SECRET_KEY to the "
                "one it was added with, or copy secret.key from the data folder where it was added."
            )

    def _wrong_key(self, whose: str) -> ConfigurationError:
        return ConfigurationError(
            f"The password of {whose} cannot be read with the secret_key that is set: add the former key behind a "
            "comma, or add the proxy again."
        )

    @cached_property
    def _box(self) -> "MultiFernet":
        """Loads the library when it is needed: it takes 30 ms, and an instance without passwords need not wait for
        it."""
        from cryptography.fernet import Fernet, MultiFernet

        return MultiFernet([Fernet(_derive_key(key)) for key in self._keys])


def _derive_key(key: str) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=PURPOSE).derive(key.encode())
    return base64.urlsafe_b64encode(derived)
