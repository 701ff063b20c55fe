"""Distinguishes a damaged database from a bug in Forager: blocks, indexes and files the server finds broken or
missing."""

import re

import asyncpg

BROKEN: tuple[type[Exception], ...] = (
    asyncpg.DataCorruptedError,
    asyncpg.IndexCorruptedError,
    asyncpg.UndefinedFileError,
)
SCHEMA: tuple[type[Exception], ...] = (
    asyncpg.UndefinedTableError,
    asyncpg.UndefinedColumnError,
    asyncpg.UndefinedFunctionError,
    asyncpg.UndefinedObjectError,
)
"""Errors that mean that part of the schema is missing: every statement of ours was prepared on a complete schema."""
WORDS = re.compile(
    r"missing chunk|unexpected chunk|could not open (relation with OID|file)|could not read block|invalid page"
    r"|could not access status of transaction|invalid memory alloc request size"
)
"""Internal errors of the server that damaged files cause."""
INTERNAL = (asyncpg.InternalServerError, asyncpg.PostgresIOError)
INDEX = re.compile(r'index "([^"]+)"')


def find_corruption(error: BaseException) -> str | None:
    """Returns what is damaged and how to proceed; None if the error does not indicate damage. Searches exception
    groups."""
    if isinstance(error, BaseExceptionGroup):
        return next(filter(None, map(find_corruption, error.exceptions)), None)
    if isinstance(error, SCHEMA):
        return f"A part of the schema is missing ({_text(error)}). {ADVICE_SCHEMA}"
    if isinstance(error, BROKEN) or (isinstance(error, INTERNAL) and WORDS.search(str(error))):
        return f"The files of the database are damaged: {_text(error)}. {_repair_message(error)}"
    return None


ADVICE_SCHEMA = "`forager check --deep` names all that is missing, `forager repair` makes what can be made again."
ADVICE = (
    "The disk or its file system lost or changed data; Forager cannot bring it back. Stop Forager, keep a copy of the"
    " data folder, and restore the newest backup into another one: `forager backups`, then"
    " `forager restore BACKUP --into FOLDER`."
)


def _repair_message(error: BaseException) -> str:
    found = INDEX.search(str(error))
    if found is None or not isinstance(error, asyncpg.IndexCorruptedError):
        return ADVICE
    statement = f"REINDEX INDEX {found[1]}"
    return f"Its table may be sound: `psql \"$(forager db url)\" -c '{statement}'` rebuilds it. If that fails: {ADVICE}"


def _text(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
