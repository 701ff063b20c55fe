"""Whether a process lives: real processes, also dead ones and zombies."""

import os
import subprocess
import sys

from forager.stats.processes import get_host_key, is_alive, started_at


def test_this_very_process_is_alive() -> None:
    assert is_alive(os.getpid(), started_at(os.getpid()))


def test_a_process_that_ended_is_not_nor_is_its_zombie() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    began = started_at(child.pid)
    assert is_alive(child.pid, began)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # ended, not yet reaped: a zombie
    assert not is_alive(child.pid, began)
    child.communicate()
    assert not is_alive(child.pid, began)


def test_another_process_with_a_reused_pid_is_not_the_one_that_began_earlier() -> None:
    assert not is_alive(os.getpid(), started_at(os.getpid()) - 1)


def test_a_machine_is_named_with_its_boot_and_namespace() -> None:
    assert get_host_key() == get_host_key()
    assert get_host_key().count("/") >= 2
