"""Programs run repeatedly from several Python threads and in forked children at once."""

import os
import signal
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.compiler.codegen import parallel_plan

TEXT = """HloModule m
add {{ a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] add(a, b) }}
ENTRY e {{
 x = f32[{rows},257] parameter(0)
 z = f32[] constant(0)
 s = f32[{rows}] reduce(x, z), dimensions={{1}}, to_apply=add
 c = f32[257] reduce(x, z), dimensions={{0}}, to_apply=add
 t = f32[] reduce(x, z), dimensions={{0,1}}, to_apply=add
 w = f32[{rows},257] reduce-window(x, z), window={{size=1x257 pad=0_0x256_0}}, to_apply=add
 b = f32[{rows},257] broadcast(s), dimensions={{0}}
 e = f32[{rows},257] exponential(x)
 d = f32[{rows},257] multiply(e, b)
 ROOT r = (f32[{rows},257], f32[257], f32[], f32[{rows},257]) tuple(d, c, t, w)
}}
"""


@pytest.fixture(autouse=True)
def small_programs_are_cut(monkeypatch):
    monkeypatch.setattr(parallel_plan, "TASK_WAKES", 1e-6)


def prepared(rows, threads):
    session = xe.compile(
        TEXT.format(rows=rows), backend="cpu", threads=threads, cache=False, journal="off"
    )
    x = np.random.default_rng(rows).standard_normal((rows, 257)).astype(np.float32)
    return session, x, bits(session, x)


def bits(session, x):
    return [np.asarray(leaf).tobytes() for leaf in session.run_flat([x])]


@pytest.mark.parametrize("threads", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("rows", [2, 41])
def test_every_run_gives_the_same_bits_wherever_the_argument_lies(threads, rows):
    session, x, first = prepared(rows, threads)
    memory = np.empty(x.size + 32, np.float32)
    for k in range(20):
        again = memory[k : k + x.size].reshape(x.shape)
        again[...] = x
        assert bits(session, again) == first


def test_several_sessions_from_several_threads():
    sessions = [prepared(rows, threads) for rows in (3, 40) for threads in (2, 3)]

    def run(number):
        session, x, first = sessions[number % len(sessions)]
        return bits(session, x) == first

    with ThreadPoolExecutor(6) as executor:
        assert all(executor.map(run, range(300)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_forked_while_another_thread_executes():
    session, x, first = prepared(40, 2)
    held, go_on = threading.Event(), threading.Event()

    def hold():
        with session.executable._lock:
            held.set()
            go_on.wait(60)

    other = threading.Thread(target=hold)
    other.start()
    held.wait()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 warns if a process with threads is forked
        child = os.fork()
    if child == 0:
        signal.signal(
            signal.SIGALRM, signal.SIG_DFL
        )  # a handler in Python would wait for the call that does not return
        signal.alarm(30)
        os._exit(0 if bits(session, x) == first else 3)
    go_on.set()
    other.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
