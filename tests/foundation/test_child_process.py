"""Children that answer, die, hang and are ended."""

import os
import signal
import sys
import threading
import time

import pytest

from xla_explorer.foundation import child_process
from xla_explorer.foundation.child_process import ChildEndedError, MessagingChild
from xla_explorer.foundation.limits import Deadline

ECHO = """
import os, signal, sys, time
from xla_explorer.foundation.messages import receive, send
while True:
    what, *rest = receive(sys.stdin.buffer)
    if what == "die":
        print("goodbye, world", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "exit":
        sys.exit(3)
    if what == "sleep":
        time.sleep(60)
    send(sys.stdout.buffer, (what, rest))
"""


@pytest.fixture
def child():
    made = MessagingChild([sys.executable, "-c", ECHO], dict(os.environ))
    yield made
    made.close()


def test_it_answers(child):
    assert child.ask(30, "a", 1, [2]) == ("a", [1, [2]])
    assert child.ask(None, None) == (None, []), "an answer may hold anything"
    assert child.alive and child.pid != os.getpid()


def test_how_it_died_and_what_it_said(child):
    with pytest.raises(
        ChildEndedError, match="crashed with SIGKILL; its last words: goodbye, world"
    ) as caught:
        child.ask(30, "die")
    assert caught.value.code == -signal.SIGKILL and not child.alive
    with pytest.raises(ChildEndedError, match="SIGKILL"):
        child.ask(30, "a")


def test_an_exit_code(child):
    with pytest.raises(ChildEndedError, match=r"exit code 3$"):
        child.ask(30, "exit")


def test_a_deadline_ends_it(child):
    child.ask(30, "a")
    started = time.perf_counter()
    with pytest.raises(TimeoutError, match=r"0\.2 s"):
        child.ask(0.2, "sleep")
    assert time.perf_counter() - started < 20 and not child.alive


def test_ending_it_does_not_wait_for_a_process_that_takes_its_time_to_die(child, monkeypatch):
    """Ending a child does not wait for its death.

    The system takes long to free the memory of a large process, or of one that waits for a device.
    """
    child.ask(30, "a")
    monkeypatch.setattr(child_process, "_kill", lambda process: None)
    started = time.perf_counter()
    with pytest.raises(TimeoutError, match=r"0\.2 s"):
        child.ask(0.2, "sleep")
    assert time.perf_counter() - started < 20 and not child.alive
    os.kill(child.pid, signal.SIGKILL)
    assert child._process.wait(20) == -signal.SIGKILL


def test_a_deadline_counts_from_where_it_was_made(child):
    late = Deadline(time.monotonic() - 1, 5.0)
    with pytest.raises(TimeoutError, match=r"within 5 s"):
        child.ask(late, "sleep")


def test_closed_twice(child):
    assert child.close() is child.close()
    with pytest.raises(ChildEndedError):
        child.ask(None, "a")


def test_a_lock_that_a_stopped_thread_holds_does_not_hold_up_the_end_of_python(child, monkeypatch):
    """A lock that a stopped thread holds does not delay the end of Python.

    Threads stop where they are when Python ends: closing an abandoned sweep once waited forever.
    """
    held, go_on = threading.Event(), threading.Event()

    def hold():
        with child._closing:
            held.set()
            go_on.wait(60)

    holder, closer = (
        threading.Thread(target=hold),
        threading.Thread(target=child.close, daemon=True),
    )
    holder.start()
    held.wait(60)
    with monkeypatch.context() as ending:
        ending.setattr(sys, "is_finalizing", lambda: True)
        closer.start()
        closer.join(10)
        stuck = closer.is_alive()
    go_on.set()
    holder.join()
    assert not stuck and child._process.wait(10) < 0
