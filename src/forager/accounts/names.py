"""Rules for user names. Pure."""

import re

from forager.errors import UsageError

PATTERN = "^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$"
_NAME = re.compile(PATTERN)
TAKEN = frozenset({"anonymous", "system", "scheduler"})
"""Reserved: the history uses these names for other actors."""


def validate_name(name: str) -> None:
    if not _NAME.fullmatch(name) or name.endswith("\n"):
        raise UsageError(
            "A name begins with a letter or digit, and goes on with those and . _ @ + -, up to 64 characters.",
            field="name",
        )
    if name.casefold() in TAKEN:
        raise UsageError(f"{name} is not a person's name here; choose another.", field="name")
