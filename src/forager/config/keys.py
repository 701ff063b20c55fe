"""Keys of this instance: random, created when one is first needed, stored in the data folder (0600)."""

import contextlib
import os
import secrets
from pathlib import Path

from forager.config.cipher import PasswordCipher
from forager.config.settings import Settings

SECRET_FILE = "secret.key"  # noqa: S105 (a name of a file)


def get_cipher(settings: Settings, *, creates: bool = False) -> PasswordCipher:
    """Returns a cipher that encrypts with the setting `secret_key`, or without one with the key in the data folder,
    which `creates` creates if there is none. It decrypts with either. The file is looked up when it is needed, so that
    no process has to be restarted after the first password."""
    path = settings.home / SECRET_FILE
    if creates and not settings.secret_key:
        ensure_key(path)

    def find_keys() -> tuple[str, ...]:
        return (*settings.secret_key, *_existing(path))

    return PasswordCipher(find_keys)


def _existing(path: Path) -> tuple[str, ...]:
    try:
        return (path.read_text(encoding="ascii").strip(),)
    except FileNotFoundError:
        return ()


def ensure_key(path: Path) -> bytes:
    """Returns the key in this file, created if there is none: atomically, and never over another one."""
    with contextlib.suppress(FileExistsError):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "w") as stream:
            stream.write(secrets.token_hex(32))
            stream.flush()
            os.fsync(stream.fileno())
        try:
            os.link(temporary, path)
        finally:
            temporary.unlink()
    return path.read_bytes()
