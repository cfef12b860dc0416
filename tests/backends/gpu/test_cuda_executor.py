"""The CUDA side against a fake driver: calls, their order, and errors."""

import ctypes
import gc
import inspect
import pickle
import sys
import threading
import types
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

from tests.backends.gpu.driver_library import driver_of
from tests.backends.gpu.fake_driver import CUresult, FakeDriver
from tests.backends.gpu.gpu_modules import LOOP, SOFTMAX, compiled
from xla_explorer.backends.gpu import gpu_compiler
from xla_explorer.backends.gpu.device_executor import GpuExecutionError
from xla_explorer.backends.gpu.emitters import products
from xla_explorer.backends.gpu.gpu_executable import GpuExecutable
from xla_explorer.backends.gpu.ptx_assembler import AssembledPtx
from xla_explorer.backends.gpu.runtime import code_loading, cuda_executor
from xla_explorer.backends.gpu.runtime.cuda_driver import CudaDriver, CudaError, find_driver
from xla_explorer.backends.gpu.runtime.cuda_executor import (
    CudaExecutor,
    OutOfDeviceMemoryError,
    nearest_architecture,
)
from xla_explorer.backends.gpu.runtime.device_array import (
    _DLManagedTensor,
    address_of,
    foreign_array,
)
from xla_explorer.backends.gpu.runtime.thunk_runner import GraphRefusedWarning
from xla_explorer.backends.interfaces import ArgumentPlacer, CompileOptions, StreamExecutor
from xla_explorer.explorer.sessions.arguments import Signature
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.text.parser import parse_hlo

SINE = """HloModule s
ENTRY e { x = f32[100] parameter(0) y = f32[100] parameter(1) s = f32[100] sine(x) ROOT r = f32[100] add(s, y) }
"""


@pytest.fixture
def driver(monkeypatch):
    monkeypatch.setattr(code_loading, "find_ptxas", lambda: None)
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    return FakeDriver()


@pytest.fixture
def executor(driver):
    return CudaExecutor(driver_of(driver))


def on(executor, text, **options):
    result = compiled(text)
    return GpuExecutable(
        result.buffers,
        result.program,
        result.stages["ptx"],
        "sm_90",
        executor,
        **options,
    )


def test_facts(executor):
    assert isinstance(executor, StreamExecutor)
    assert (
        executor.facts[:5] == ("NVIDIA FAKE", "sm_90a", 132, 1 << 37, 13000)
        and not executor.facts.emulated
    )
    assert executor.facts[5:] == (1.98, pytest.approx(4917, abs=1), 0), (
        "what the driver does not say is 0"
    )
    assert nearest_architecture(90) == "sm_90a", "its own instructions"
    assert (
        nearest_architecture(87) == "sm_86"
        and nearest_architecture(103) == "sm_100"
        and nearest_architecture(120) == "sm_120"
    )
    with pytest.raises(XlaExplorerError, match="too old"):
        nearest_architecture(52)


@pytest.mark.parametrize(
    ("architecture", "multiprocessors"), [(None, 66), ("sm_90", 66), ("sm_80", 108)]
)
def test_launches_fit_the_device_at_hand(driver, monkeypatch, architecture, multiprocessors):
    driver.multiprocessors = 66  # another product of the same architecture
    monkeypatch.setattr(
        gpu_compiler, "device_executor", lambda requested: (CudaExecutor(driver_of(driver)), None)
    )
    options = CompileOptions(backend_options={"architecture": architecture} if architecture else {})
    compiler = gpu_compiler.GpuCompiler()
    text = "HloModule m\nENTRY e { x = f32[3000001] parameter(0) ROOT r = f32[3000001] negate(x) }"
    result = compiler.run_backend(compiler.run_hlo_passes(parse_hlo(text), options), options)
    assert f"the {2048 * multiprocessors} resident threads" in result.stages["launches"].text


def test_programs_run(executor, driver):
    x, y = np.linspace(-3, 3, 100, dtype=np.float32), np.ones(100, np.float32)
    executable = on(executor, SINE)
    np.testing.assert_allclose(executable.execute([x, y])[0], np.sin(x) + 1, rtol=1e-5, atol=1e-6)
    loads, allocations = driver.calls.count("cuModuleLoadDataEx"), driver.calls.count("cuMemAlloc")
    executable.execute([y, x])
    assert driver.calls.count("cuModuleLoadDataEx") == loads == 1, "a module is loaded once"
    assert driver.calls.count("cuMemAlloc") == allocations, "memory is used again"
    executable.release()
    executor.release_unused()
    assert driver.calls.count("cuMemFree") == allocations
    state = [np.zeros((64, 8), np.float32), np.full(8, 0.5, np.float32), np.int32(60)]
    for a, b in zip(
        on(executor, LOOP).execute(state), compiled(LOOP).executable.execute(state), strict=True
    ):
        np.testing.assert_array_equal(a, b)


def test_a_cubin_where_ptxas_is(executor, driver, monkeypatch):
    def assemble(text, architecture):
        driver.ptx = text.encode() + b"\0"
        assert architecture == "sm_90"
        return AssembledPtx(b"\x7fELF...", ())

    monkeypatch.setattr(code_loading, "find_ptxas", lambda: "ptxas")
    monkeypatch.setattr(code_loading, "assemble_ptx", assemble)
    executable = on(executor, SINE)
    assert executor.load_ptx(executable.ptx).code == "cubin"
    assert executable.execute([np.zeros(100, np.float32), np.ones(100, np.float32)])[0].sum() == 100


def test_profile_uses_events_and_a_graph(executor, driver):
    x = np.ones(100, np.float32)
    profile = on(executor, SINE).profile([x, x], repeats=4)
    assert profile.total_us == (250.0,) * 4, "an event before and one after"
    assert driver.calls.count("cuGraphLaunch") == 7 and driver.graphs == [] and driver.events == {}
    (timing,) = profile.kernels
    assert timing.calls == 1 and len(timing.samples_us) == 4
    state = [np.zeros((64, 8), np.float32), np.full(8, 0.5, np.float32), np.int32(60)]
    profile = on(executor, LOOP).profile(state, repeats=1)
    assert max(t.calls for t in profile.kernels) == 5


def test_results_stay_on_the_device(executor, driver):
    x, y = np.linspace(-3, 3, 100, dtype=np.float32), np.ones(100, np.float32)
    executable = on(executor, SINE)
    (result,) = executable.execute_on_device([x, y])
    np.testing.assert_allclose(np.asarray(result), np.sin(x) + 1, rtol=1e-5, atol=1e-6)
    interface = result.__cuda_array_interface__
    assert (
        interface["shape"] == (100,) and interface["typestr"] == "<f4" and interface["version"] == 3
    )
    assert address_of(result, (100,), np.float32) == interface["data"][0]
    assert (
        address_of(result, (50, 2), np.float32) is None
        and address_of(x, (100,), np.float32) is None
    )
    # It is an argument without a copy.
    copies = driver.calls.count("cuMemcpyHtoDAsync")
    (again,) = executable.execute_on_device([result, result])
    assert driver.calls.count("cuMemcpyHtoDAsync") == copies
    np.testing.assert_allclose(
        np.asarray(again), np.sin(np.asarray(result)) + np.asarray(result), rtol=1e-6
    )
    address = result.memory.address
    del result, interface
    assert executor.allocate(400).address == address


def test_arguments_are_placed_once(executor, driver):
    x, y = np.linspace(-3, 3, 100, dtype=np.float32), np.ones(100, np.float32)
    executable = on(executor, SINE)
    assert isinstance(executable, ArgumentPlacer)
    placed = executable.place([x, y])
    copies = driver.calls.count("cuMemcpyHtoDAsync")
    for _ in range(2):
        np.testing.assert_allclose(
            executable.execute(placed)[0], np.sin(x) + y, rtol=1e-5, atol=1e-6
        )
    assert driver.calls.count("cuMemcpyHtoDAsync") == copies
    (leaf,) = Signature(parse_hlo("ENTRY e { ROOT x = f32[100] parameter(0) }")).leaves(placed[:1])
    assert leaf is placed[0], "a session hands it on as it is"


def test_dlpack(executor):
    (result,) = on(executor, SINE).execute_on_device(
        [np.zeros(100, np.float32), np.ones(100, np.float32)]
    )
    assert result.__dlpack_device__() == (2, 0)
    capsule = result.__dlpack__(stream=1)
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    managed = _DLManagedTensor.from_address(pointer(capsule, b"dltensor"))
    tensor = managed.tensor
    assert (
        tensor.data == result.memory.address
        and tensor.ndim == 1
        and tensor.shape[0] == 100
        and tensor.strides[0] == 1
    )
    assert (tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes, tensor.device_type) == (
        2,
        32,
        1,
        2,
    )
    kept = sys.getrefcount(result)
    del capsule
    assert sys.getrefcount(result) == kept - 1, "a capsule that nobody read lets go"
    (here,) = compiled(SINE).executable.execute_on_device(
        [np.zeros(100, np.float32), np.ones(100, np.float32)]
    )
    with pytest.raises(BufferError, match="emulator"):
        here.__dlpack__()
    assert not hasattr(here, "__cuda_array_interface__") and np.asarray(here).sum() == 100


class OnlyDlpack:
    """Another library's array that speaks DLPack alone."""

    def __init__(self, array):
        self.array, self.streams = array, []

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        return self.array.__dlpack__()


def test_arrays_come_by_dlpack_without_a_copy(executor, driver):
    x, y = np.linspace(-3, 3, 100, dtype=np.float32), np.ones(100, np.float32)
    executable = on(executor, SINE)
    (result,) = executable.execute_on_device([x, y])
    given = OnlyDlpack(result)
    copies, kept = driver.calls.count("cuMemcpyHtoDAsync"), sys.getrefcount(result)
    (again,) = executable.execute_on_device([given, given])
    assert (
        driver.calls.count("cuMemcpyHtoDAsync") == copies
        and given.streams == [int(executor.stream)] * 2
    ), "its work comes before ours"
    np.testing.assert_allclose(
        np.asarray(again), np.sin(np.asarray(result)) + np.asarray(result), rtol=1e-6
    )
    assert sys.getrefcount(result) == kept, "its owner is told when nobody reads it any more"
    assert (
        foreign_array(given, (50, 2), np.float32, executor) is None
        and foreign_array(given, (100,), np.int32, executor) is None
    )
    assert (
        foreign_array(x, (100,), np.float32, executor) is None and sys.getrefcount(result) == kept
    )


def test_a_stream_named_by_the_interface_is_waited_for(executor, driver):
    (result,) = on(executor, SINE).execute_on_device(
        [np.zeros(100, np.float32), np.ones(100, np.float32)]
    )

    foreign = types.SimpleNamespace(
        __cuda_array_interface__={
            **result.__cuda_array_interface__,
            "stream": executor.side_stream(7),
        }
    )
    waits = driver.calls.count("cuStreamSynchronize")
    assert foreign_array(foreign, (100,), np.float32, executor)[0] == result.memory.address
    assert driver.calls.count("cuStreamSynchronize") == waits + 1


def test_an_argument_that_is_not_aligned_is_copied(executor, driver):
    """Kernels load 16 bytes at a time."""
    memory = executor.allocate(416)
    executor.write(memory.address, np.arange(104, dtype=np.float32))

    interface = {
        "shape": (100,),
        "typestr": "<f4",
        "data": (memory.address + 4, False),
        "version": 3,
    }
    part = types.SimpleNamespace(__cuda_array_interface__=interface)
    copies = driver.calls.count("cuMemcpyDtoDAsync")
    (got,) = on(executor, SINE).execute([part, np.zeros(100, np.float32)])
    np.testing.assert_allclose(
        got, np.sin(np.arange(1, 101, dtype=np.float32)), rtol=1e-4, atol=1e-5
    )
    assert driver.calls.count("cuMemcpyDtoDAsync") == copies + 1


def test_every_way_to_code_that_failed_is_told(executor, driver):
    driver.fail["cuModuleLoadDataEx"] = CUresult.CUDA_ERROR_INVALID_PTX
    with pytest.raises(
        GpuExecutionError,
        match=r"ptxas: is not installed; nvjitlink: .*; driver: .*INVALID_PTX: what .* means: planted",
    ) as caught:
        on(executor, SINE).execute([np.zeros(100, np.float32)] * 2)
    assert "newer ptxas" in caught.value.hint


def test_too_many_blocks_are_refused_here(executor):
    loaded = executor.load(compiled(SINE).stages["ptx"].text.encode(), [])
    with pytest.raises(GpuExecutionError, match="at most 2147483647 blocks"):
        executor.launch_kernel(loaded, "k", 2**31, 128, [], 0)


WARPGROUP = """HloModule w
ENTRY e { a = bf16[128,128] parameter(0) b = bf16[128,128] parameter(1)
  ROOT c = bf16[128,128] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} }"""


def test_kernels_with_tensor_maps(driver, monkeypatch):
    rows = [replace(row, rival="") for row in products.PRODUCT_ROWS]
    monkeypatch.setattr(products, "PRODUCT_ROWS", tuple(rows))
    result = compiled.__wrapped__(WARPGROUP, "sm_90a")
    (kernel,) = result.program.kernels
    assert kernel.emitter == "warpgroup-dot" and len(kernel.tensor_maps) == 2
    executor = CudaExecutor(driver_of(driver))
    executable = GpuExecutable(
        result.buffers,
        result.program,
        result.stages["ptx"],
        "sm_90a",
        executor,
    )
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal((128, 128)).astype(ml_dtypes.bfloat16) for _ in range(2))
    for _ in range(2):
        (got,) = executable.execute([a, b])
        np.testing.assert_allclose(
            got.astype(np.float32), a.astype(np.float32) @ b.astype(np.float32), rtol=2e-2, atol=0.2
        )
    assert driver.calls.count("cuTensorMapEncodeTiled") == 2, "one for each array, made once"
    assert driver.calls.count("cuFuncSetAttribute") == 1, (
        "more shared memory than 48 KiB is asked for once"
    )


def test_errors_name_the_kernel(driver):
    x = np.ones(100, np.float32)
    driver.fail["cuStreamSynchronize"] = CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
    with pytest.raises(
        GpuExecutionError, match=r"ILLEGAL_ADDRESS: what .* means; at or before kernel \w+ of %\w+"
    ) as caught:
        on(CudaExecutor(driver_of(driver)), SINE).execute([x, x])
    assert "start the process again" in caught.value.hint and caught.value.fatal
    driver.fail["cuStreamSynchronize"] = CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
    with pytest.raises(GpuExecutionError, match="; at kernel"):
        on(CudaExecutor(driver_of(driver)), SINE, synchronous=True).execute([x, x])
    driver.fail["cuLaunchKernel"] = CUresult.CUDA_ERROR_OUT_OF_MEMORY
    with pytest.raises(GpuExecutionError, match="kernel") as caught:
        on(CudaExecutor(driver_of(driver)), SINE).execute([x, x])
    assert not caught.value.fatal


def test_after_a_lost_context_every_call_says_what_lost_it(executor, driver):
    x = np.ones(100, np.float32)
    executable = on(executor, SINE)
    for _ in range(2):
        executable.execute([x, x])
    (kept,) = executable.execute_on_device([x, x])
    driver.fail["cuStreamSynchronize"] = CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
    with pytest.raises(GpuExecutionError, match="ILLEGAL_ADDRESS"):
        executable.execute([x, x])
    calls = len(driver.calls)
    other = on(executor, WRITES_ITS_ARGUMENT)
    with pytest.raises(
        GpuExecutionError, match=r"lost before this, in cuStreamSynchronize: .* kernel \w+ of %\w+"
    ) as caught:
        other.execute([x, x])
    assert caught.value.fatal
    executable.release()
    del kept, executable, other
    assert len(driver.calls) == calls, "nothing is asked of a device that cannot answer"
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.fatal


def test_out_of_memory(executor, driver):
    kept = executor.allocate(1000)
    executor.deallocate(kept)
    driver.fail["cuMemAlloc"] = CUresult.CUDA_ERROR_OUT_OF_MEMORY
    executor.allocate(5000)
    assert driver.calls.count("cuMemFree") == 1, "what nobody uses goes back to the device first"
    driver.cuMemAlloc_answers = None
    failing = lambda size: (CUresult.CUDA_ERROR_OUT_OF_MEMORY, None)  # noqa: E731
    driver.cuMemAlloc = failing
    with pytest.raises(
        OutOfDeviceMemoryError, match=r"9,999 bytes left: 137,\d+,\d+,\d+ of its 137,438,953,472"
    ) as caught:
        executor.allocate(9999)
    assert isinstance(caught.value, MemoryError)


def test_a_program_that_does_not_fit_says_what_it_needs(executor, driver):
    real, allowed = driver.cuMemAlloc, [2]

    def limited(size):
        allowed[0] -= 1
        return real(size) if allowed[0] >= 0 else (CUresult.CUDA_ERROR_OUT_OF_MEMORY, None)

    driver.cuMemAlloc = limited
    x = np.ones(100, np.float32)
    with pytest.raises(
        OutOfDeviceMemoryError,
        match=r"the device has no 400 bytes left: .*; the program needs 1,200 bytes, 400 for",
    ) as caught:
        on(executor, SINE).execute([x, x])
    assert "cuLaunchKernel" not in driver.calls and "smaller shapes" in caught.value.hint
    assert driver.calls.count("cuMemFree") == 2 or sum(map(len, executor._free.values())) == 2, (
        "what it had is given back"
    )


def test_a_launch_of_no_blocks_is_nothing(executor, driver):
    loaded = executor.load(compiled(SINE).stages["ptx"].text.encode(), [])
    executor.launch_kernel(loaded, "k", 0, 128, [], 0)
    assert "cuLaunchKernel" not in driver.calls


def test_modules_that_ran_long_ago_are_unloaded(executor, driver, monkeypatch):
    monkeypatch.setattr(cuda_executor, "_KEPT_MODULES", 2)
    program = on(executor, SINE).ptx
    held = executor.load_ptx(program)
    for number in range(3):
        executor.load_ptx(program._replace(text=f"{program.text}\n// {number}\n"))
    executor.release_unused()
    assert len(executor._modules) == 2 and len(driver.unloaded) == 1, "one is held, one was let go"
    x = np.ones(100, np.float32)
    assert executor.load_ptx(program) is not held
    del held
    gc.collect()
    executor.release_unused()
    assert len(driver.unloaded) == 3
    on(executor, SINE).execute([x, x])


def test_what_cannot_be_recorded_runs_as_ever(executor, driver):
    x = np.ones(100, np.float32)
    executable = on(executor, SINE)
    executable.execute([x, x])
    driver.fail["cuStreamEndCapture"] = CUresult.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
    with pytest.warns(
        GraphRefusedWarning, match="s runs without a CUDA graph: .*STREAM_CAPTURE_INVALIDATED"
    ):
        executable.execute([x, x])
    np.testing.assert_allclose(executable.execute([x, x])[0], np.sin(x) + x, rtol=1e-5)
    assert "cuGraphLaunch" not in driver.calls


def test_recording_ends_when_the_work_fails(executor, driver):
    def work():
        raise KeyError("planted")

    with pytest.raises(KeyError, match="planted"):
        executor.graphs.record(work)
    assert (
        driver.recording is None
        and driver.calls[-2:] == ["cuStreamEndCapture", "cuGraphDestroy"]
        and gc.isenabled()
    )


def test_another_thread_waits_while_a_graph_is_recorded(executor, driver):
    memory, order = executor.allocate(512), []
    other = threading.Thread(
        target=lambda: (
            executor.copy_on_device(memory.address, memory.address, 256),
            order.append("copied"),
        )
    )

    def work():
        other.start()
        other.join(0.2)
        order.append("recorded")

    executor.graphs.record(work)
    other.join(10)
    assert order == ["recorded", "copied"] and driver.graphs == [[]]


def test_missing_functions(executor):
    loaded = executor.load(compiled(SINE).stages["ptx"].text.encode(), [])
    with pytest.raises(CudaError, match="cuModuleGetFunction: CUDA_ERROR_NOT_FOUND"):
        executor.launch(loaded, "nothing", [])


def bindings(monkeypatch, driver):
    package, module = types.ModuleType("cuda"), types.ModuleType("cuda.bindings")
    package.bindings, module.driver = module, driver
    for name, value in (
        ("cuda", package),
        ("cuda.bindings", module),
        ("cuda.bindings.driver", driver),
    ):
        monkeypatch.setitem(sys.modules, name, value)


def test_finding_the_driver(monkeypatch):
    bindings(monkeypatch, FakeDriver())
    assert isinstance(find_driver(), CudaDriver)
    bindings(monkeypatch, FakeDriver(devices=0))
    why = find_driver()
    assert why.code == "no-cuda-device" and "CUDA_ERROR_NO_DEVICE" in why.message
    broken = FakeDriver()
    broken.cuInit = lambda flags: (_ for _ in ()).throw(RuntimeError("libcuda.so was not found"))
    bindings(monkeypatch, broken)
    assert find_driver().code == "no-cuda-driver" and "libcuda.so" in find_driver().message
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    assert find_driver().code == "no-cuda-bindings"


def test_the_fake_has_the_functions_of_the_real_one():
    real = pytest.importorskip("cuda.bindings.driver")
    names = [
        name for name in vars(FakeDriver) if name.startswith("cu") and not name.startswith("cuuint")
    ]
    assert len(names) > 35
    for name in names:
        theirs = getattr(real, name).__doc__.split("\n", 1)[0]
        wanted = theirs.split("(", 1)[1].rsplit(")", 1)[0]
        count = 0 if not wanted else _parameters(wanted)
        assert count == len(inspect.signature(vars(FakeDriver)[name]).parameters) - 1, theirs
    groups = [name for name in vars(FakeDriver) if name.startswith("CU") and name != "CUresult"]
    assert len(groups) > 8
    for group in groups:
        for name, number in vars(getattr(FakeDriver, group)).items():
            assert (
                not isinstance(number, int) or int(getattr(getattr(real, group), name)) == number
            ), name
    for status in CUresult:
        assert int(getattr(real.CUresult, status.name)) == status


def _parameters(text):
    depth, count = 0, 1
    for c in text:
        depth += (c in "[(") - (c in "])")
        count += c == "," and not depth
    return count


def test_softmax_on_the_fake(executor):
    x = np.random.default_rng(2).standard_normal((512, 1000)).astype(np.float32)
    np.testing.assert_array_equal(
        on(executor, SOFTMAX).execute([x])[0], compiled(SOFTMAX).executable.execute([x])[0]
    )


WRITES_ITS_ARGUMENT = """HloModule d, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY e { x = f32[100] parameter(0) y = f32[100] parameter(1) ROOT r = f32[100] add(x, y) }
"""


@pytest.mark.parametrize("text", [SINE, WRITES_ITS_ARGUMENT])
def test_from_the_second_call_on_it_is_a_graph(executor, driver, text):
    executable, y = on(executor, text), np.ones(100, np.float32)
    for call in range(5):
        x = np.full(100, call, np.float32)
        want = (np.sin(x) if text is SINE else x) + y
        np.testing.assert_allclose(executable.execute([x, y])[0], want, rtol=1e-5, atol=1e-6)
        assert driver.calls.count("cuGraphLaunch") == call and driver.calls.count(
            "cuStreamBeginCapture"
        ) == min(call, 1)
    kernels = driver.calls.count("cuLaunchKernel")
    placed = executable.place([x, y])[0]
    executable.execute([placed, y])
    assert driver.calls.count("cuLaunchKernel") > kernels, (
        "what lies on the device is read where it lies"
    )
    assert len(driver.graphs) == 1
    executable.release()
    assert driver.graphs == []
    np.testing.assert_allclose(executable.execute([x, y])[0], want, rtol=1e-5, atol=1e-6)
    del executable
    assert driver.graphs == [], "memory and graph go with the executable"


@pytest.mark.long
def test_no_graph_when_asked_or_when_errors_are_to_be_located(executor, driver):
    x = np.ones(100, np.float32)
    for options in ({"graphs": False}, {"synchronous": True}):
        executable = on(executor, SINE, **options)
        for _ in range(3):
            executable.execute([x, x])
    assert "cuGraphLaunch" not in driver.calls
