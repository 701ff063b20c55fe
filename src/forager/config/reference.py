"""Writes `docs/reference/settings.md`: `python -m forager.config.reference > docs/reference/settings.md`.

A test compares the page with what this writes.
"""

import sys
from collections.abc import Iterator

from forager.config.settings import FIELDS, SECTIONS, Settings, is_advanced, write_value

HEAD = """# Settings

Written by `python -m forager.config.reference`; do not edit.

A setting has one name: `politeness.delay` is `delay` in the section `[politeness]` of `forager.toml`, and
`FORAGER_POLITENESS_DELAY` in the environment. Some commands have a flag for it.

```toml
contact = "you@example.com"

[politeness]
delay = "2s"

[retention]
visits = "14d"
```

**Values.** A duration is written like `500ms`, `30s`, `1h30m`, `14d` or `2w`, a size like `500kB`, `10MB` or `1GiB`.
Plain numbers are seconds and bytes. Lists are arrays in the file, and separated by commas in the environment.

**Order.** The file in the data folder is read first, then the one that `forager --config FILE` or `FORAGER_CONFIG`
names, then the environment, then flags; the later wins. `forager settings` shows the values and where they come from. A
`forager.toml` in the working folder is not read, and Forager says so: another user may have written it, and a setting
can name a program to run. For the same reason the data folder's own file must belong to you or to root, and must not be
writable by everybody. Unknown names and bad values are errors, with a suggestion.

**Advanced** settings are those that few instances change; `forager settings` lists them with `--all`, or if they are
set.

The data folder is `$XDG_DATA_HOME/forager` if that is set, else `~/.local/share/forager`, on macOS
`~/Library/Application Support/forager`, and for root `/var/lib/forager`. What may be lost is in a cache folder:
`$XDG_CACHE_HOME/forager`, else `~/.cache/forager`, on macOS `~/Library/Caches/forager`, for root `/var/cache/forager`.
So far that is the model of the language detector, 7 MB.
"""
COLUMNS = "\n| setting | default | | meaning |\n|---|---|---|---|\n"


def write() -> str:
    return HEAD + "".join(_tables())


def _tables() -> Iterator[str]:
    for section in ("", *SECTIONS):
        title = f"`[{section}]`" if section else "Without a section"
        paths = [path for path in FIELDS if path.rpartition(".")[0] == section]
        yield f"\n## {title}\n{COLUMNS}" + "".join(map(_row, paths))


def _row(path: str) -> str:
    mark = "advanced" if is_advanced(path) else ""
    return f"| `{path}` | {_default(path)} | {mark} | {FIELDS[path].description} |\n"


def _default(path: str) -> str:
    if path == "home":
        return "per user"
    value = write_value(path, Settings().get(path))
    if value is None or value == []:
        return "–"
    if isinstance(value, list):
        return f"`{', '.join(map(str, value))}`"
    return f"`{str(value).lower()}`" if isinstance(value, bool) else f"`{value}`"


if __name__ == "__main__":
    sys.stdout.write(write())
