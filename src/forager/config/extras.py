"""How a library that only some instances need is installed. Pure."""


def install_hint(extra: str, package: str) -> str:
    """Returns what to run for a missing library: Forager is not on PyPI, so the extra is installed from a clone."""
    return f"run `pip install '.[{extra}]'` in a clone of Forager, or `pip install '{package}'`"
