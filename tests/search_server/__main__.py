"""`make test-search`: starts the real server, runs the tests of search against it, and stops it.

python -m tests.search_server                  all of them
python -m tests.search_server -k phrase        pytest's own arguments
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.search_server.server import MissingError, RealServer, fetch, find_java

USUAL = ("-q", "-n", "2", "-k", "opensearch or search_server")
"""Those that need it; the same ones on PostgreSQL are in `make test`."""
TESTS = ("tests/integration/search", "tests/integration/search_server")


def main(arguments: list[str]) -> int:
    try:
        java = find_java()
        program = fetch()
    except MissingError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    with tempfile.TemporaryDirectory(prefix="forager-search-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        server = RealServer(program, java, Path(folder))
        try:
            server.start()
            environment = os.environ | {"FORAGER_TEST_SEARCH_URL": server.url}
            return subprocess.run(
                [sys.executable, "-m", "pytest", *(arguments or USUAL), *TESTS], env=environment, check=False
            ).returncode
        except MissingError as error:
            sys.stderr.write(f"{error}\n")
            return 1
        finally:
            server.kill()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
