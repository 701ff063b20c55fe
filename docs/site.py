"""Hooks of `make docs`: files outside `docs/` that the documentation links to become part of the site.

The pages of the repository's root (README, ARCHITECTURE and others) become pages below `project/`. Any other linked
file, such as the schema, is copied below `files/`. A link to a file that does not exist fails the build, as MkDocs
does for links within `docs/`.
"""

import os
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
PROJECT = {
    "README.md": "project/about.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "SECURITY.md": "project/security.md",
    "LICENSE": "project/licence.md",
}
"""Pages of the root, and where they are in the site."""
FENCED = re.compile(r"^( *```.*?^ *```)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<=\]\()([^()\s#]+)(?=[)#])")


def on_config(config: Any) -> Any:
    """Fills in what the navigation names by a pattern, such as all decisions."""
    for section in config.nav:
        for title, entries in section.items():
            if isinstance(entries, list):
                section[title] = [found for entry in entries for found in _match(entry)]
    return config


def _match(entry: Any) -> list[Any]:
    if not isinstance(entry, str) or "*" not in entry:
        return [entry]
    return sorted(str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").glob(entry))


def on_files(files: Files, *, config: Any) -> Files:
    """Adds the pages of the root."""
    for name, uri in PROJECT.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        content = text if name.endswith(".md") else f"# Licence\n\n```\n{text}```\n"
        files.append(File.generated(config, uri, content=content))
    return files


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Files) -> str:
    """Returns the page with links that MkDocs can follow: relative to where the pages are in the site."""
    uri = page.file.src_uri
    parts = FENCED.split(markdown)
    for index in range(0, len(parts), 2):
        parts[index] = LINK.sub(lambda link: _resolve(link[1], uri, config, files), parts[index])
    return "".join(parts)


def _resolve(link: str, uri: str, config: Any, files: Files) -> str:
    if "://" in link or link.startswith("mailto:"):
        return link
    origin = next((name for name, at in PROJECT.items() if at == uri), f"docs/{uri}")
    target = posixpath.normpath(posixpath.join(posixpath.dirname(origin), link))
    if not (ROOT / target).is_file():
        raise PluginError(f"{origin}: the link {link} leads nowhere")
    return posixpath.relpath(_place(target, config, files), posixpath.dirname(uri) or ".")


def _place(target: str, config: Any, files: Files) -> str:
    """Returns where a file of the repository is in the site; one that is not there yet is added."""
    if target in PROJECT:
        return PROJECT[target]
    if target.startswith("docs/"):
        return target.removeprefix("docs/")
    uri = f"files/{target}" + ("" if os.path.splitext(target)[1] else ".txt")
    if files.get_file_from_path(uri) is None:
        files.append(File.generated(config, uri, abs_src_path=str(ROOT / target)))
    return uri
