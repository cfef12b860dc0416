"""LLVM in a process of its own: a crash there is an error or a retry here."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.support.llvm_bodies import body_of
from xla_explorer.backends.llvm import code_maker
from xla_explorer.backends.llvm.code_maker import (
    CodeProcess,
    LlvmInThisProcessWarning,
    result_of,
    submit,
)
from xla_explorer.backends.llvm.crashed_code import LlvmCrashedError, LlvmFallbackWarning
from xla_explorer.backends.llvm.llvm_compiler import (
    LlvmIrError,
    OptimizationOptions,
    optimize_and_emit,
    optimized_ir,
)
from xla_explorer.backends.llvm.llvm_module import Job, perform
from xla_explorer.backends.llvm.native_library import NativeLibrary
from xla_explorer.backends.llvm.object_cache import ObjectCache
from xla_explorer.backends.llvm.target_machine import describe_target, host_target
from xla_explorer.compiler.codegen.ir.llvm_module import LlvmFunction, LlvmModule
from xla_explorer.foundation.child_process import ChildEndedError
from xla_explorer.foundation.child_python import child_environment, code_command


def _function(name: str, lines: tuple[str, ...], result: str, **fields: Any) -> LlvmFunction:
    return LlvmFunction(
        name,
        fields.pop("parameters", ("ptr %a",)),
        body_of("\n".join(lines)),
        result=result,
        linkage="",
        **fields,
    )


def function(number: int) -> LlvmFunction:
    """A function that LLVM compiles."""
    lines = ("  %x = load i32, ptr %a", f"  %y = mul i32 %x, {number + 3}", "  ret i32 %y")
    return _function(f"good{number}", lines, "i32", attributes=("noinline", "nounwind"))


def good(number: int) -> LlvmModule:
    """A module of one such function."""
    return LlvmModule((function(number),))


# LLVM says that it cannot, and ends its process with exit code 1.
DEADLY = _function(
    "deadly",
    ('  call void asm sideeffect "nonsense", ""()', "  ret void"),
    "void",
    parameters=(),
    attributes=("noinline", "nounwind"),
)
# LLVM 22 aborts over it for CPUs with AVX2 and without AVX-512, at every level of its code
# generator but 0.
ABORTS = _function(
    "aborts",
    (
        "  %x = load <8 x float>, ptr %a, align 4",
        "  %p = fcmp oge <8 x float> %x, zeroinitializer",
        "  %q = shufflevector <8 x i1> %p, <8 x i1> zeroinitializer, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 13, i32 14, i32 15>",
        "  %b = bitcast <8 x i1> %q to i8",
        "  %c = icmp ne i8 %b, 0",
        "  ret i1 %c",
    ),
    "i1",
    attributes=("noinline", "optnone"),
)
AVX2 = describe_target("x86_64-unknown-linux-gnu", "x86-64-v3")


def _aborts() -> bool:
    try:
        process = CodeProcess(1)
        process.submit(
            Job("object", LlvmModule((ABORTS,)), "none", AVX2, OptimizationOptions())
        ).result()
        process.close()
        return False
    except ChildEndedError:
        return True


def test_code_is_what_this_process_would_make() -> None:
    module = LlvmModule(tuple(map(function, range(4))))
    for wanted in ("object", "assembly", "ir"):
        job = Job(wanted, module, "default", host_target(), OptimizationOptions())
        assert result_of(submit(job)).data == perform(job)[0]


@pytest.mark.parametrize(
    "make",
    [optimize_and_emit, lambda module: optimize_and_emit(module, cache=ObjectCache(enabled=False))],
)
def test_what_llvm_dies_of_is_an_error(make) -> None:  # type: ignore[no-untyped-def]
    module = LlvmModule((function(0), DEADLY, function(1)))
    with pytest.raises(
        LlvmCrashedError, match=r"over `deadly` for .*\(.*invalid instruction mnemonic 'nonsense'\)"
    ) as caught:
        make(module)
    assert caught.value.functions == ("deadly",)
    assert optimize_and_emit(good(0)).object_bytes


@pytest.mark.parametrize(("by_optimization_level", "objects"), [(True, 2), (False, 1)])
def test_only_the_function_that_llvm_aborts_over_is_made_otherwise(
    by_optimization_level: bool, objects: int
) -> None:
    """An object that must be one is made at the lower level as a whole."""
    if not _aborts():
        pytest.skip("this LLVM compiles what LLVM 22 aborts over")
    module = LlvmModule((*map(function, range(5)), ABORTS))
    with pytest.warns(
        LlvmFallbackWarning,
        match="SIGABRT over `aborts` for x86-64-v3 .*isUIntN.* at level 0 of the code generator",
    ):
        made = optimize_and_emit(
            module, AVX2, options=OptimizationOptions(by_optimization_level=by_optimization_level)
        )
    assert len(made.objects) == objects and len(made.remarks) == 1
    with pytest.warns(LlvmFallbackWarning):
        assert "good4:" in made.assembly_text and "aborts:" in made.assembly_text
    assert "@aborts" in optimized_ir(module, AVX2)  # the optimiser alone does not abort


def test_code_made_otherwise_runs(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """Fallback code is not cached: the next compile warns again that it is slower."""
    if not _aborts():
        pytest.skip("this LLVM compiles what LLVM 22 aborts over")
    import ctypes

    from xla_explorer.backends.llvm.target_machine import why_not_here

    if why_not_here(AVX2) is not None:
        pytest.skip("this CPU has no AVX2")
    for _ in range(2):
        with pytest.warns(LlvmFallbackWarning):
            made = optimize_and_emit(
                LlvmModule((function(4), ABORTS)), AVX2, cache=ObjectCache(tmp_path)
            )
        assert not made.from_cache
    library = NativeLibrary(made.objects, exports=["aborts", "good4"])
    values = (ctypes.c_float * 8)(-1, -1, -1, -1, -1, 1, 1, 1)
    aborts = library.bind("aborts", ctypes.c_bool, [ctypes.c_void_p])
    assert not aborts(ctypes.addressof(values))
    values[4] = 0.0
    assert aborts(ctypes.addressof(values))


def test_who_compiles_at_the_same_time_gets_code() -> None:
    def make(number: int) -> bool:
        if number % 5 == 0:
            with pytest.raises(LlvmCrashedError, match="`deadly`"):
                optimize_and_emit(LlvmModule((DEADLY,)))
            return True
        return bool(optimize_and_emit(good(number)).object_bytes)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(make, range(15)))


def test_ir_that_llvm_refuses_has_its_place() -> None:
    with pytest.raises(LlvmIrError) as caught:
        optimize_and_emit("define i32 @f() {\n  ret i32 %nothing\n}\n")
    assert (caught.value.line, caught.value.column) == (2, 11) and "^" in caught.value.excerpt


class _Refused:
    PIPE = subprocess.PIPE
    SubprocessError, TimeoutExpired = subprocess.SubprocessError, subprocess.TimeoutExpired

    def Popen(self, *_: object, **__: object) -> None:
        raise PermissionError("processes are forbidden here")


@pytest.mark.parametrize("how", ["forbidden", "dies at its start"])
@pytest.mark.parametrize("cores", [1, 2])
def test_without_a_process_llvm_works_here_and_says_so(
    monkeypatch: pytest.MonkeyPatch, how: str, cores: int
) -> None:
    monkeypatch.setattr(code_maker, "_maker", code_maker._Maker())
    monkeypatch.setattr(code_maker, "usable_cores", lambda: cores)
    if how == "forbidden":
        monkeypatch.setattr(code_maker, "subprocess", _Refused())
    else:
        monkeypatch.setattr(
            code_maker,
            "child_command",
            lambda *_, **__: code_command("import sys; sys.exit('no seat')"),
        )
    with pytest.warns(
        LlvmInThisProcessWarning, match="forbidden here" if how == "forbidden" else "no seat"
    ):
        assert optimize_and_emit(good(1)).object_bytes
    assert optimize_and_emit(good(2)).object_bytes  # and warns once


def run(code: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a process of its own."""
    return subprocess.run(
        code_command(code),
        env=child_environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


MAKE = """
import os, sys, time, signal
from xla_explorer.backends.llvm import code_maker
from xla_explorer.backends.llvm.llvm_compiler import optimize_and_emit
def make(k):
    return len(optimize_and_emit(f"define i32 @f(i32 %x) {{\\n  %y = add i32 %x, {k}\\n  ret i32 %y\\n}}\\n").object_bytes)
make(1)
pid = code_maker._maker.process().pid
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_has_one_of_its_own() -> None:
    done = run(
        MAKE
        + """
import warnings
warnings.simplefilter("ignore", DeprecationWarning)
child = os.fork()
if not child:
    make(2)
    os._exit(0 if code_maker._maker.process().pid != pid else 1)
assert os.waitpid(child, 0)[1] == 0
make(3)
assert code_maker._maker.process().pid == pid
"""
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize(
    "before", ["", "os.kill(pid, signal.SIGKILL); time.sleep(0.3)"], ids=["alive", "ended"]
)
def test_a_forked_process_lets_go_of_the_pipes_once(before: str) -> None:
    """A second time, their numbers may be those of other files; Python 3.13 also complains."""
    done = run(
        MAKE
        + f"""
import gc, warnings
warnings.simplefilter("ignore", DeprecationWarning)
{before}
child = os.fork()
if not child:
    files = [os.open(os.devnull, os.O_RDONLY) for _ in range(8)]
    make(2)
    gc.collect()
    [os.fstat(file) for file in files]
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    )
    assert done.returncode == 0 and not done.stderr, done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize(
    "end", ["sys.exit(0)", "os._exit(0)", "os.kill(os.getpid(), signal.SIGKILL)"]
)
def test_it_ends_with_this_process(end: str) -> None:
    pid = int(run(MAKE + f"print(pid, flush=True)\n{end}\n").stdout)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        if (
            os.path.exists(f"/proc/{pid}/stat")
            and open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] == "Z"
        ):
            return
        time.sleep(0.02)
    pytest.fail("it still runs")


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_an_interrupt_ends_what_nobody_waits_for() -> None:
    done = run(
        MAKE
        + """
import threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
os.kill(pid, signal.SIGSTOP)
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    make(4)
    sys.exit("not interrupted")
except KeyboardInterrupt:
    pass
make(5)
assert code_maker._maker.process().pid != pid
"""
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_it_is_started_again_when_somebody_ended_it() -> None:
    """The job that it had is done by another."""
    process = code_maker._maker.process()
    assert process is not None
    os.kill(process.pid, signal.SIGSTOP)
    ender = threading.Timer(0.1, os.kill, (process.pid, signal.SIGKILL))
    ender.start()
    assert optimize_and_emit(good(7)).object_bytes
    ender.join()
