"""Writes docs/reference/crawl-settings.md: `python -m forager.config.crawl_reference`."""

import sys
from collections.abc import Iterator

from forager.config.crawl_layers import defaults_of
from forager.config.crawl_settings import ALIASES, choices_of, describe_fields
from forager.config.settings import Settings

HEAD = """# Crawl settings

How a domain is crawled. Written by `python -m forager.config.crawl_reference`.

Each is a key of a `[profile.NAME]` table, a flag of `forager domain NAME set` and `forager profiles set` (with dashes,
such as `--max-depth 3`; switches also as `--no-…`), a value of `forager crawl --set NAME=VALUE`, and an API field.
A value of the domain wins over one of its [profile](../how-to/profiles.md), that over the default, which the
[settings](settings.md) of the instance may change. Values of settings marked **secret** are encrypted and never shown.
"""
COLUMNS = "\n| setting | default | values | meaning |\n|---|---|---|---|\n"


def write() -> str:
    return HEAD + "".join(_tables())


def _tables() -> Iterator[str]:
    group = None
    for field in describe_fields(defaults_of(Settings())):
        if field["group"] != group:
            group = field["group"]
            yield f"\n## {group}\n{COLUMNS}"
        words = "".join(f", `{word}`" for word, name in ALIASES.items() if name == field["name"])
        choices = ", ".join(f"`{choice}`" for choice in choices_of(field["name"])) or field["kind"]
        secret = ", **secret**" if field["is_secret"] else ""
        name, default = f"`{field['name']}`{words}", _default(field["default"])
        yield f"| {name} | {default} | {choices}{secret} | {field['description']} |\n"


def _default(value: object) -> str:
    if value is None or value in ([], {}, ""):
        return "–"
    return f"`{str(value).lower()}`" if isinstance(value, bool) else f"`{value}`"


if __name__ == "__main__":
    sys.stdout.write(write())
