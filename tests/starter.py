"""Starts Forager's processes without loading the program again: they are forked from a process that has loaded it.

A person's `python -m forager crawl` spends 0.6 s of CPU on imports, its worker 0.7 s, the API 2 s. Who calls
`subprocess` or `asyncio` with `sys.executable -m forager…` gets a process of its own all the same, a child with its own
number, command line, session, files and environment, which can be killed and sent signals. Processes so started start
their own workers and readers in the same way.

    whoever starts one ──order, files──> its starter ──fork──> gone at once ──fork──> the process
              ^                                                                          │
              └────────────────────── becomes its parent, as the one between is gone ────┘

What is about starting itself goes by another name, the program's own (`PROGRAM`), and is really started.
`TEST_STARTER=off` in the environment switches all of this off: processes are then started as usual.
"""

import asyncio
import atexit
import contextlib
import ctypes
import functools
import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
PROGRAM = Path(sys.executable).with_name("forager")
TO_LOAD = (
    *(
        "forager.runtime.worker",
        "forager.retention.service",
        "forager.runtime.up",
        "forager.runtime.server",
        "forager.api.app",
    ),
    *("forager.explain.check", "forager.engine.parser_server", "forager.images.decode.child"),
    *("forager_playground.process", "forager.dispatch.factory", "forager.replay.queue", "uvloop"),
    # What they load when they come to it: the language detector is 40 ms of each reader, Celery 60 of its workers.
    *("py3langid.langid", "structlog.dev", "rich.console", "rich.progress", "rich.table", "rich.markup"),
    *("forager.dispatch.consumer", "forager.dispatch.listener", "forager.dispatch.pool", "celery.app.base"),
    *("celery.worker.consumer", "celery.worker.components", "celery.worker.control", "celery.worker.autoscale"),
    *("celery.worker.strategy", "celery.app.control", "celery.app.trace", "celery.backends.base"),
    *("celery.events.receiver", "kombu.transport.pyamqp", "tzlocal", "encodings.ascii", "encodings.idna"),
    *(
        "typer._adapters",
        "typer._click.decorators",
        "argparse",
        "forager.replay.runner",
        "forager.parsing.sites.amazon",
    ),
    *("forager.api.body_limit", "uvicorn.lifespan.on", "uvicorn.protocols.http.httptools_impl"),
    *("uvicorn.protocols.websockets.auto", "forager.images.decode.inspect", "forager_playground.sites.uniform"),
)
PARENTS = {"crawl", "worker", "up", "refresh", "demo", "api"}
"""Commands that start processes of their own; each has a starter below it."""
OURS = ("forager", "tests.integration.")
AT_START = ("PYTHON", "LD_", "LC_", "LANG", "TZ", "MALLOC")
"""Variables that only a new program reads."""
SWITCH = "TEST_STARTER"
PATCH = "sitecustomize.py"
"""What a folder in PYTHONPATH may bring along: it is executed in each process before the program, as Python does."""
AT_OUR_START: dict[str, str] = {}
PYTHON = sys.executable
"""A test may have named another in its place."""
PR_SET_MM, PR_SET_MM_ARG_END, PR_SET_CHILD_SUBREAPER = 35, 9, 36
MOST_BYTES = 1 << 17
_exec = subprocess._fork_exec  # type: ignore[attr-defined]


class Order(NamedTuple):
    command: list[str]
    """From the name of the module on."""
    is_safe: bool
    """Started with `-P`: the current folder is not in its import path."""
    folder: str
    environ: dict[str, str]
    fds: list[int]
    """The numbers the files that come along have there."""
    is_leader: bool


# On the side of who starts one ---------------------------------------------------------------------------------------


class Starter:
    """The end of the line to one; calls are made one at a time."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._turn = threading.Lock()

    def start(self, order: Order, files: Sequence[int]) -> int:
        """The number of the process, a child of ours: for who is orphaned we are the next of kin meanwhile."""
        with self._turn, _adopting():
            socket.send_fds(self._line, [json.dumps(order).encode()], files)
            return int(self._line.recv(32))


@contextlib.contextmanager
def _adopting() -> Iterator[None]:
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    try:
        yield
    finally:
        _prctl(PR_SET_CHILD_SUBREAPER, 0)


def _prctl(what: int, *given: int) -> int:
    found: int = ctypes.CDLL(None).prctl(what, *(ctypes.c_ulong(each) for each in (*given, 0, 0, 0, 0)[:4]))
    return found


@functools.cache
def _first_starter() -> Starter:
    """Of a process of tests. It ends when that does, for then its line ends."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    room = "-" * 2048  # for the command lines of who is forked from it
    command = [sys.executable, "-m", "tests.starter", str(its.fileno()), room]
    environ = dict(os.environ)
    if _patch_of(environ) is not None:  # meant for one test, not for all that are forked from here
        del environ["PYTHONPATH"]
    process = subprocess.Popen(command, pass_fds=[its.fileno()], cwd=ROOT, env=environ, start_new_session=True)
    its.close()
    assert ours.recv(32) == b"ready"
    atexit.register(_end, ours, process)
    return Starter(ours)


def _end(line: socket.socket, process: subprocess.Popen[bytes]) -> None:
    line.close()
    process.wait()


def forking(*given: Any) -> int:
    """In place of `fork_exec` of CPython: Forager is forked, everything else is executed."""
    order = _order_of(given)
    if order is None:
        return int(_exec(*given))
    standard = [given[place] if given[place] != -1 else fd for place, fd in ((6, 0), (9, 1), (11, 2))]
    return _first_starter().start(order, [*standard, *order.fds[3:]])


def _order_of(given: Sequence[Any]) -> Order | None:
    """None: it is not ours, or something is asked for that only a new program can have."""
    command, fds, folder, environ = [os.fsdecode(word) for word in given[0]], given[3], given[4], given[5]
    process_group, gid, gids, uid, umask, preexec = given[16:22]
    is_safe = command[1:2] == ["-P"]
    module = command[2:] if is_safe else command[1:]
    if command[0] != PYTHON or module[:1] != ["-m"] or not module[1].startswith(OURS):
        return None
    if (process_group, gid, gids, uid, umask, preexec) != (-1, None, None, None, -1, None):
        return None
    wanted = dict(os.fsdecode(each).split("=", 1) for each in environ) if environ is not None else dict(os.environ)
    if _at_start(wanted) != AT_OUR_START:  # a test may have changed its own, too
        return None
    kept = [fd for fd in fds if fd != given[13]]
    return Order(module[1:], is_safe, os.fsdecode(folder or os.getcwd()), wanted, [0, 1, 2, *kept], bool(given[15]))


def _at_start(environ: Mapping[str, str]) -> dict[str, str]:
    has_patch = _patch_of(environ) is not None
    return {
        name: value
        for name, value in environ.items()
        if name.startswith(AT_START) and not (name == "PYTHONPATH" and has_patch)
    }


def _patch_of(environ: Mapping[str, str]) -> Path | None:
    """Where PYTHONPATH is a folder with nothing else in it."""
    folder = Path(environ.get("PYTHONPATH") or os.devnull)
    return folder / PATCH if folder.is_dir() and os.listdir(folder) == [PATCH] else None


def fork_from_now_on() -> None:
    """In a process of tests; in those that are forked it holds from their beginning."""
    if sys.platform == "linux" and os.environ.get(SWITCH) != "off":
        AT_OUR_START.update(_at_start(os.environ))
        subprocess._fork_exec = forking  # type: ignore[attr-defined]


def run(
    arguments: tuple[str, ...], environ: Mapping[str, str], folder: Path, timeout_s: float
) -> subprocess.CompletedProcess[str]:
    """A command to its end."""
    command = [sys.executable, "-m", "forager", *arguments]
    return subprocess.run(
        command,
        env=environ,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )


# On the side of a starter --------------------------------------------------------------------------------------------


def main(line: socket.socket) -> None:
    _load()
    line.send(b"ready")
    serve(line)


def _load() -> None:
    import forager.cli

    for module in pkgutil.iter_modules(forager.cli.__path__):
        importlib.import_module(f"forager.cli.{module.name}")
    for name in TO_LOAD:
        importlib.import_module(name)
    _build_commands()
    _build_api()
    assert len(os.listdir("/proc/self/task")) == 1, "a thread would be missing in every process forked from here"
    gc.freeze()


def _build_commands() -> None:
    """Once for all: a third of what a short command costs."""
    import typer.main

    import forager.cli.main

    typer.main.get_command = functools.cache(typer.main.get_command)
    app = forager.cli.main.app
    names = [each.name for each in app.registered_commands] + [each.name for each in app.registered_groups]
    for name in names:
        typer.main.get_command(forager.cli.main.build_for(str(name)))


def _build_api() -> None:
    """What every application has alike: 40 ms of each that is started."""
    import forager.api.app as api
    from forager import dashboard

    for make in (api._declared, api._build_read_routes, api._parameters, dashboard.load):
        make()


def serve(line: socket.socket) -> None:
    """Until nobody is at the other end. Signals for a whole group are not for us."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while True:
        message, files, _, _ = socket.recv_fds(line, MOST_BYTES, 32)
        if not message:
            os._exit(0)
        pid = _fork(Order(*json.loads(message)), files)
        with contextlib.suppress(BrokenPipeError):
            line.send(b"%d" % pid)
        for file in files:
            os.close(file)


def _fork(order: Order, files: list[int]) -> int:
    """Its number, as soon as it is nobody's child but that of who asked."""
    told, telling = os.pipe()
    between = os.fork()
    if between == 0:
        between = os.getpid()
        pid = os.fork()
        if pid:
            os.write(telling, b"%d" % pid)
            os._exit(0)
        while os.getppid() == between:
            os.sched_yield()
        _become(order, files)
    os.close(telling)
    pid = int(os.read(told, 32))
    os.close(told)
    os.waitpid(between, 0)
    return pid


def _become(order: Order, files: list[int]) -> None:
    """Never returns."""
    if order.is_leader:
        os.setsid()
    _take(files, order.fds)
    os.chdir(order.folder)
    os.environ.clear()
    os.environ.update(order.environ)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    _rename([sys.executable, *(["-P"] if order.is_safe else []), "-m", *order.command])
    if set(order.command[1:2]) & PARENTS:
        _have_a_starter()
    sys.path[:1] = [] if order.is_safe else [order.folder]
    if patch := _patch_of(order.environ):
        runpy.run_path(str(patch))
    sys.argv = order.command.copy()
    module = order.command[0]
    if module in sys.modules and not hasattr(sys.modules[module], "__path__"):
        del sys.modules[module]  # as `-m` finds it: not loaded
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        code: object = 0
    except SystemExit as ended:
        code = ended.code
    if code is None or isinstance(code, int):
        _leave(code or 0)
    sys.exit(str(code))


def _leave(code: int) -> None:
    """As the interpreter does, but for taking apart every module: half of what a short command costs. What the program
    left behind is collected, so that it can complain."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    gc.collect()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        sys.exit(code)
    os._exit(code & 0xFF)


def _take(files: Sequence[int], numbers: Sequence[int]) -> None:
    """Files get the numbers they had; whatever else is open is closed."""
    import fcntl

    above = max([*numbers, *files]) + 1
    lifted = [fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, above) for file in files]
    os.closerange(0, above)
    for file, number in zip(lifted, numbers, strict=True):
        os.dup2(file, number)
    kept = max(numbers) + 1
    for file in lifted:
        if file >= kept:
            os.close(file)


def _rename(command: Sequence[str]) -> None:
    """Others see this command line: it is written where the kernel reads it, over that of the first starter."""
    stat = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    begin, end = int(stat[45]), int(stat[46])
    words = b"".join(os.fsencode(word) + b"\0" for word in command)[: FIRST_END - begin]
    ctypes.memset(begin, 0, max(end, begin + len(words)) - begin)
    ctypes.memmove(begin, words, len(words))
    _prctl(PR_SET_MM, PR_SET_MM_ARG_END, begin + len(words))


def _have_a_starter() -> None:
    """Forked before the program begins: later there would be threads and connections."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        ours.close()
        line = socket.socket(fileno=_alone_with(its))
        _rename(["a starter"])
        serve(line)
    its.close()
    started = Starter(ours)
    globals()["_first_starter"] = lambda: started
    fork_from_now_on()
    asyncio.create_subprocess_exec = functools.partial(_create, asyncio.create_subprocess_exec)


def _alone_with(line: socket.socket) -> int:
    """Without the files of whose starter we are: who reads from it would wait for us, too."""
    nothing = os.open(os.devnull, os.O_RDWR)
    _take([nothing, nothing, nothing, line.detach()], [0, 1, 2, 3])
    return 3


async def _create(usual: Any, program: str, *arguments: str, **given: Any) -> Any:
    """uvloop starts processes by itself, so `subprocess` never hears of them: here it does what asyncio does."""
    loop = asyncio.get_running_loop()
    is_ours = program == PYTHON and arguments[0] == "-m" and arguments[1].partition(".")[0] == "forager"
    if not is_ours or isinstance(loop, asyncio.BaseEventLoop):
        return await usual(program, *arguments, **given)
    from asyncio.subprocess import Process, SubprocessStreamProtocol
    from asyncio.unix_events import _UnixSubprocessTransport  # type: ignore[attr-defined]

    protocol = SubprocessStreamProtocol(limit=given.pop("limit", 2**16), loop=loop)
    standard = [given.pop(name, None) for name in ("stdin", "stdout", "stderr")]
    waiter = loop.create_future()
    transport = _UnixSubprocessTransport(
        loop, protocol, (program, *arguments), False, *standard, 0, waiter=waiter, **given
    )
    _watch(loop, transport)
    await waiter
    return Process(transport, protocol, loop)


def _watch(loop: asyncio.AbstractEventLoop, transport: Any) -> None:
    pid = transport.get_pid()
    its_end = os.pidfd_open(pid)

    def ended() -> None:
        loop.remove_reader(its_end)
        os.close(its_end)
        transport._process_exited(transport._proc.wait())  # who tried to kill it meanwhile has waited for it already

    loop.add_reader(its_end, ended)


if __name__ == "__main__":
    FIRST_END = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[46])
    main(socket.socket(fileno=int(sys.argv[1])))
