"""Loads settings from the file in the data folder, a named file, the environment, and flags; the later wins.

Unknown names and bad values are errors with a suggestion, never ignored. Passwords are not repeated in them.
"""

import difflib
import json
import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from forager.config.home import default_home
from forager.config.settings import FIELDS, PATHS, SECRETS, SECTIONS, Settings, nest, write_value
from forager.errors import ConfigurationError
from forager.masking import mask_urls, mask_value

ENV_PREFIX = "FORAGER_"
FILE_NAME = "forager.toml"
NOT_SETTINGS = frozenset({"REQUIRE_SERVICES", "TEST_SEARCH_URL", "CONFIG", "ALLOW_ROOT", "LEFT_ROOT", "FILE_IGNORED"})
"""`FORAGER_*` names that belong to the test suite, and to the start of a command."""


def load(
    flags: Mapping[str, Any] | None = None, environ: Mapping[str, str] = os.environ, *, is_only_shown: bool = False
) -> Settings:
    """Returns the settings of this process. A flag that is None was not given; flags are named as in the environment,
    or as in the file: `fetch_timeout`, `fetch.timeout`. Where they are only shown, the file of the data folder may
    belong to the folder's owner: root reads what its other account works with."""
    given = {_resolve(name, "a flag"): value for name, value in (flags or {}).items() if value is not None}
    from_env = _from_environment(environ)
    values = _from_files(find_home(given, environ), environ, is_only_shown=is_only_shown) | from_env | given
    if "home" in values:
        values["home"] = Path(values["home"]).expanduser().absolute()
    try:
        return Settings.model_validate(nest(values))
    except ValidationError as error:
        raise ConfigurationError(_format_error(error, given, from_env)) from None


def to_environment(settings: Settings) -> dict[str, str]:
    """Returns the settings that are not defaults as the environment of a child process."""
    values = {}
    for path in settings.list_changed():
        value = settings.get(path)
        text = ",".join(map(str, value)) if isinstance(value, tuple) else "" if value is None else str(value)
        values[variable_of(path)] = text
    return values


def to_toml(settings: Settings, *, without: Iterable[str] = ()) -> str:
    """Returns the settings that are not defaults as a file, without these, secrets, and URLs with a password."""
    values = {path: write_value(path, settings.get(path)) for path in settings.list_changed()}
    left_out = SECRETS.union(without)
    lines, last = [], ""
    for path, value in values.items():
        if path in left_out or value is None or mask_value(value) != value:
            continue
        section, _, name = path.rpartition(".")
        if section != last:
            lines += ["", f"[{section}]"]
        lines.append(f"{name} = {json.dumps(value, ensure_ascii=False)}")
        last = section
    return "\n".join(lines) + "\n"


def variable_of(path: str) -> str:
    return ENV_PREFIX + path.replace(".", "_").upper()


def source_of(path: str, environ: Mapping[str, str] = os.environ, home: Path | None = None) -> str:
    """Returns where a setting's value comes from: `default`, a file's path, or an environment variable's name."""
    if environ.get(variable_of(path)):
        return variable_of(path)
    for file in reversed(_files(home or default_home(), environ)):
        if path in _read_file(file):
            return str(file)
    return "default"


def find_home(flags: Mapping[str, Any] | None = None, environ: Mapping[str, str] = os.environ) -> Path:
    """Returns the data folder, before any file in it is read."""
    named = (flags or {}).get("home") or environ.get(ENV_PREFIX + "HOME") or _home_in(_explicit_file(environ))
    return Path(named or default_home()).expanduser().absolute()


def ignored_file(home: Path, environ: Mapping[str, str] = os.environ) -> Path | None:
    """Returns the settings file in the working folder, if it is not one of those that are read."""
    path = Path.cwd() / FILE_NAME
    return path if path.is_file() and not any(used.samefile(path) for used in _files(home, environ)) else None


def _files(home: Path, environ: Mapping[str, str]) -> list[Path]:
    """Returns the data folder's own file, then the one that `--config` or FORAGER_CONFIG names. Never the working
    folder's: another user may have written it, and a setting can name a program to run."""
    return [path for path in (home / FILE_NAME, _explicit_file(environ)) if path is not None and path.is_file()]


def _explicit_file(environ: Mapping[str, str]) -> Path | None:
    named = environ.get(ENV_PREFIX + "CONFIG")
    if not named:
        return None
    path = Path(named).expanduser().absolute()
    if not path.is_file():
        raise ConfigurationError(f"There is no settings file {path} (from --config or FORAGER_CONFIG).")
    return path


def _home_in(path: Path | None) -> str | None:
    home = None if path is None else _read_file(path).get("home")
    return home if isinstance(home, str) else None


def _reject_foreign(path: Path, *, is_only_shown: bool) -> None:
    """Rejects a file that another user can write: it would give that user our privileges."""
    found = path.stat()
    trusted = {os.geteuid(), 0, *([path.parent.stat().st_uid] if is_only_shown else [])}
    if found.st_uid not in trusted or found.st_mode & 0o002:
        raise ConfigurationError(
            f"{path} belongs to another user, or everybody may write it, and a setting can name a program to run: "
            "make it your own (chown, chmod o-w), or name another file with --config."
        )


def _from_files(home: Path, environ: Mapping[str, str], *, is_only_shown: bool) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for file in _files(home, environ):
        if file == home / FILE_NAME:
            _reject_foreign(file, is_only_shown=is_only_shown)
        content = _read_file(file)
        for path in content:
            if path not in FIELDS:
                _reject_unknown(path, f"in {file}")
        values |= content
    return values


def _read_file(file: Path) -> dict[str, Any]:
    """Returns the file's values by name, such as `fetch.timeout`."""
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ConfigurationError(f"{file} cannot be read as TOML: {error}. Correct or remove it.") from None
    values: dict[str, Any] = {}
    for name, value in content.items():
        values |= {f"{name}.{key}": each for key, each in value.items()} if isinstance(value, dict) else {name: value}
    return values


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for variable, value in environ.items():
        if not variable.startswith(ENV_PREFIX) or variable.removeprefix(ENV_PREFIX) in NOT_SETTINGS:
            continue
        name = variable.removeprefix(ENV_PREFIX).lower()
        path = _resolve(name, f"in the environment variable {variable}")
        if value:
            values[path] = value
    return values


def _resolve(name: str, where: str) -> str:
    return PATHS.get(name.replace(".", "_")) or _reject_unknown(name, where)


def _reject_unknown(name: str, where: str) -> str:
    """Suggests the setting whose name is closest, with or without its section; for a section, all that it has."""
    if name in SECTIONS:
        raise ConfigurationError(f"{name!r} is a section ({where}): its settings are {_join(name)}.")
    known = {path.rpartition(".")[2]: path for path in FIELDS} | {**PATHS} | {path: path for path in FIELDS}
    close = difflib.get_close_matches(name, known, n=1)
    hint = f" Did you mean {known[close[0]]!r}?" if close else " `forager settings --all` lists them all."
    raise ConfigurationError(f"There is no setting {name!r} ({where}).{hint}")


def _join(section: str) -> str:
    return ", ".join(f"{section}.{name}" for name in SECTIONS[section].model_fields)


def _format_error(error: ValidationError, given: Mapping[str, Any], from_env: Mapping[str, Any]) -> str:
    first = error.errors()[0]
    path = ".".join(map(str, first["loc"][:2] if first["loc"][0] in SECTIONS else first["loc"][:1]))
    where = "a flag" if path in given else variable_of(path) if path in from_env else FILE_NAME
    value = "" if path in SECRETS else " " + mask_urls(repr(first["input"]))
    reason = first["msg"].removeprefix("Value error, ")
    return f"The setting {path!r} (from {where}) has a bad value{value}: {reason}."
