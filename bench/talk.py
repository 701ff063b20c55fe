"""Talk goes to standard error, so that standard output holds tables and nothing else."""

import sys


def tell(words: str) -> None:
    print(words, file=sys.stderr, flush=True)
