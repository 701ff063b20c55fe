"""`python -m tests.fuzz --minutes 10 [target …]`: attacks each target in turn until the time is over, and says what it
found. Ends with an error when anything was found, or when one input took more than two minutes.
"""

import argparse
import faulthandler
import sys
import time
from collections import Counter

from tests.fuzz.targets import TARGETS

ROUND = 500
"""Examples of one target before the next one gets its turn."""
LONGEST_ROUND_S = 300.0


def main() -> int:
    asked = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    asked.add_argument("--minutes", type=float, default=10.0)
    asked.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    asked.add_argument("targets", nargs="*", choices=[[], *TARGETS], help="default: all")
    given = asked.parse_args()
    names = given.targets or list(TARGETS)
    ends_at = time.monotonic() + given.minutes * 60
    tried, failed = Counter[str](), dict[str, str]()
    number = given.seed
    while time.monotonic() < ends_at and len(failed) < len(names):
        for name in (name for name in names if name not in failed):
            if time.monotonic() >= ends_at:
                break
            number += 1
            faulthandler.dump_traceback_later(LONGEST_ROUND_S, exit=True)
            try:
                tried[name] += TARGETS[name].attack(ROUND, number)
            except Exception as error:
                failed[name] = f"seed {number}: {type(error).__name__}: {error}"
                notes = "\n".join(getattr(error, "__notes__", ()))
                sys.stderr.write(f"--- {name}, {failed[name]}\n{notes}\n")
    faulthandler.cancel_dump_traceback_later()
    for name in names:
        sys.stdout.write(f"{name:18} {tried[name]:>12,} inputs  {failed.get(name, 'nothing found').splitlines()[0]}\n")
    sys.stdout.write(f"{'in all':18} {sum(tried.values()):>12,} inputs  {len(failed)} found\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
