"""Path patterns of Firecrawl, which are regular expressions, as globs over whole URLs. Pure.

Only the expressions that people write are translated: text, `.`, `.*`, `.+`, escapes, `^` and `$`. A pattern that says
more has no glob, and is rejected rather than taken for something else.
"""

import re

from forager.errors import UsageError

TOKEN = re.compile(r"\.\*|\.\+|\\.|.", re.DOTALL)
SPECIAL = frozenset("[](){}|+?*^$\\")
GLOB = {".*": "*", ".+": "?*", ".": "?"}


def to_glob(pattern: str, origin: str) -> str:
    """Returns the glob for a pattern over paths of a site; matches at any place in the path, unless it is anchored."""
    starts, ends = pattern.startswith("^"), pattern.endswith("$") and not pattern.endswith("\\$")
    inner = pattern[starts : len(pattern) - ends]
    found = "".join(_translate(token, pattern) for token in TOKEN.findall(inner))
    head = f"{origin}{'' if found.startswith('/') else '/'}" if starts else f"{origin}/*"
    found = found.lstrip("/") if head.endswith("/*") else found
    return re.sub(r"\*+", "*", f"{head}{found}{'' if ends else '*'}")


def _translate(token: str, pattern: str) -> str:
    if token in GLOB:
        return GLOB[token]
    text = token[1:] if len(token) == 2 and token[0] == "\\" else token
    if (len(token) == 2 and text.isalnum()) or (len(token) == 1 and token in SPECIAL) or text in {"*", "?"}:
        raise UsageError(
            f"The path pattern {pattern!r} is not supported: write text, `.*`, `.+`, `.`, `^` and `$` only.",
            field="url",
        )
    return text
