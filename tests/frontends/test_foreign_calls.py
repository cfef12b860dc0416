"""Foreign functions by address: handlers of XLA's C interface, written with ctypes."""

from __future__ import annotations

import ctypes
import importlib.util
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.backends.cpu.activation import Activation
from xla_explorer.backends.llvm.llvm_compiler import optimize_and_emit
from xla_explorer.backends.llvm.native_library import NativeLibrary
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.frontends.foreign_calls import interface
from xla_explorer.frontends.foreign_calls.attributes import read_foreign_attributes
from xla_explorer.frontends.foreign_calls.interface import ForeignError
from xla_explorer.frontends.stablehlo import StablehloError
from xla_explorer.hlo.evaluator.devices import foreign_call

needs_jax = pytest.mark.skipif(
    importlib.util.find_spec("jax") is None, reason="jax is not installed"
)
X = np.float32(1)
HANDLERS: list[Any] = []  # JAX keeps the address only


def _listed(kind: Any, address: int, count: int) -> list[Any]:
    return (
        [kind.from_address(place) for place in (ctypes.c_size_t * count).from_address(address)]
        if count
        else []
    )


def _array(buffer: Any) -> Any:
    sizes = tuple((ctypes.c_int64 * buffer.rank).from_address(buffer.dims))
    assert buffer.dtype == 11  # f32
    return np.frombuffer(
        (ctypes.c_float * int(np.prod(sizes))).from_address(buffer.data), np.float32
    ).reshape(sizes)


def _attributes(given: Any) -> dict[str, Any]:
    names = [
        ctypes.string_at(t.data, t.size).decode()
        for t in _listed(interface.Text, given.names, given.size)
    ]
    kinds = (ctypes.c_int32 * given.size).from_address(given.types)
    found: dict[str, Any] = {}
    for name, kind, place in zip(
        names, kinds, (ctypes.c_size_t * given.size).from_address(given.values), strict=True
    ):
        if kind == interface.SCALAR:
            scalar = interface.Scalar.from_address(place)
            found[name] = (
                {5: ctypes.c_int64, 11: ctypes.c_float, 1: ctypes.c_bool}[scalar.dtype]
                .from_address(scalar.value)
                .value
            )
        elif kind == interface.STRING:
            text = interface.Text.from_address(place)
            found[name] = ctypes.string_at(text.data, text.size).decode()
        elif kind == interface.ARRAY:
            numbers = interface.Numbers.from_address(place)
            found[name] = list((ctypes.c_int64 * numbers.size).from_address(numbers.data))
        else:
            found[name] = _attributes(interface.Attributes.from_address(place))
    return found


def _register(name: str, **stages: Any) -> None:
    """Register handlers by stage: (frame, arrays, attributes) -> error or None."""
    import jax

    def handler(function: Any) -> Any:
        def call(address: int) -> int | None:
            frame = interface.Frame.from_address(address)
            buffers = [
                _array(b)
                for side in (frame.arguments, frame.results)
                for b in _listed(interface.Buffer, side.values, side.size)
            ]
            return function(frame, buffers, _attributes(frame.attributes))

        HANDLERS.append(interface.HANDLER(call))
        return jax.ffi.pycapsule(HANDLERS[-1])

    jax.ffi.register_ffi_target(
        name,
        {stage: handler(function) for stage, function in stages.items()},
        platform="xla_explorer",
    )


def _interface_function(frame: Any, position: int) -> Any:
    """Return number `position` of the functions of XLA_FFI_Api."""
    return interface.HANDLER((ctypes.c_size_t * 24).from_address(frame.api)[6 + position])


@needs_jax
@pytest.mark.parametrize("backend", ["cpu", "interpreter"])
@pytest.mark.usefixtures("runs_here")
def test_operands_attributes_and_results(backend: str) -> None:
    import jax

    seen: dict[str, Any] = {}

    def run(frame: Any, buffers: Any, attributes: Any) -> None:
        seen.update(attributes)
        x, y, z = buffers
        y[...] = x * attributes["scale"]
        z[...] = x.sum(axis=1)

    _register("tests.scaled", execute=run)
    shapes = jax.ShapeDtypeStruct((2, 3), np.float32), jax.ShapeDtypeStruct((2,), np.float32)

    def program(x: Any) -> Any:
        y, z = jax.ffi.ffi_call("tests.scaled", shapes)(
            x.T, scale=np.float32(2.5), n=7, yes=True, text='a"b', d=np.arange(3), more={"k": 1}
        )
        return y + 1, z

    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    y, z = xe.jit(program, backend=backend)(x)
    np.testing.assert_array_equal(y, x.T * 2.5 + 1)
    np.testing.assert_array_equal(z, x.T.sum(axis=1))
    assert seen == {
        "scale": 2.5,
        "n": 7,
        "yes": True,
        "text": 'a"b',
        "d": [0, 1, 2],
        "more": {"k": 1},
    }


@needs_jax
@pytest.mark.usefixtures("runs_here")
def test_layouts_and_repeated_runs() -> None:
    import jax

    def number(frame: Any, buffers: Any, attributes: Any) -> None:
        x, y = [b.reshape(-1) for b in buffers]
        y[...] = 10 * x + np.arange(6)  # in the order of memory, which is columns first

    _register("tests.numbered", execute=number)
    columns = {"input_layouts": [(1, 0)], "output_layouts": (1, 0)}
    program = xe.jit(
        lambda x: (
            jax.ffi.ffi_call("tests.numbered", jax.ShapeDtypeStruct((2, 3), np.float32), **columns)(
                x * 1
            )
            + 1
        )
    )
    for k in range(3):
        x = np.arange(6, dtype=np.float32).reshape(2, 3) + k
        np.testing.assert_array_equal(program(x), 10 * x + np.arange(6).reshape(3, 2).T + 1)


@needs_jax
@pytest.mark.usefixtures("runs_here")
def test_a_result_in_the_memory_of_an_operand() -> None:
    import jax

    def double(frame: Any, buffers: Any, attributes: Any) -> None:
        operand, result = buffers
        assert operand.__array_interface__["data"] == result.__array_interface__["data"]
        result *= 2

    _register("tests.doubled", execute=double)
    call = jax.ffi.ffi_call(
        "tests.doubled", jax.ShapeDtypeStruct((3,), np.float32), input_output_aliases={0: 0}
    )
    x = np.arange(3, dtype=np.float32)
    np.testing.assert_array_equal(xe.jit(lambda x: call(x) + x)(x), 3 * x)


# f32[n] -> f32[n]: twice the operand; without Python. The offsets are those of XLA_FFI_CallFrame
# and XLA_FFI_Buffer.
NATIVE_HANDLER = """
define ptr @doubled(ptr %frame) {
entry:
  %given.list = getelementptr i8, ptr %frame, i64 72
  %made.list = getelementptr i8, ptr %frame, i64 112
  %given.row = load ptr, ptr %given.list
  %made.row = load ptr, ptr %made.list
  %given = load ptr, ptr %given.row
  %made = load ptr, ptr %made.row
  %given.data = getelementptr i8, ptr %given, i64 24
  %made.data = getelementptr i8, ptr %made, i64 24
  %x = load ptr, ptr %given.data
  %y = load ptr, ptr %made.data
  %dims.at = getelementptr i8, ptr %given, i64 40
  %dims = load ptr, ptr %dims.at
  %n = load i64, ptr %dims
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %x.at = getelementptr float, ptr %x, i64 %k
  %y.at = getelementptr float, ptr %y, i64 %k
  %v = load float, ptr %x.at
  %twice = fadd float %v, %v
  store float %twice, ptr %y.at
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret ptr null
}
"""


@needs_jax
@pytest.mark.usefixtures("runs_here")
def test_native_code_calls_a_native_handler(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a loop, and nothing in between is Python."""
    import jax

    library = NativeLibrary(optimize_and_emit(NATIVE_HANDLER).objects, {}, ["doubled"])
    HANDLERS.append(library)
    capsule = jax.ffi.pycapsule(
        ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(library.function_address("doubled"))
    )
    jax.ffi.register_ffi_target("tests.native", capsule, platform="xla_explorer")
    call = jax.ffi.ffi_call("tests.native", jax.ShapeDtypeStruct((5,), np.float32))
    x = np.arange(5, dtype=np.float32)
    session = xe.compile(
        xe.from_jax(lambda x: jax.lax.fori_loop(0, 7, lambda k, c: call(c) - 1, x), x)
    )
    steps = [s for s in session.executable.steps if s.opcode == "custom-call"]
    assert [(s.runs_on, s.function, s.reason.code) for s in steps] == [
        ("library", "xe_foreign_call", "foreign-function")
    ]
    monkeypatch.setattr(Activation, "_evaluate", lambda self, number: 1)
    expected = x
    for _ in range(7):
        expected = 2 * expected - 1
    for _ in range(2):
        np.testing.assert_array_equal(session.executable.execute([x])[0], expected)


@needs_jax
@pytest.mark.usefixtures("runs_here")
def test_a_handler_that_fails_in_a_loop_and_one_that_answers_with_a_future() -> None:
    import jax

    class Future(ctypes.Structure):
        _fields_ = [
            ("head", ctypes.c_size_t * 2),
            ("future", ctypes.c_size_t),
        ]  # as ctypes wants it

    class Error(ctypes.Structure):
        _fields_ = [
            ("head", ctypes.c_size_t * 2),
            ("message", ctypes.c_char_p),
            ("code", ctypes.c_int32),
        ]  # as ctypes wants it

    stages: list[int] = []

    def early(frame: Any, buffers: Any, attributes: Any) -> None:
        """Return a ready future: the stages go on."""
        stages.append(frame.stage)
        made = Future()
        assert _interface_function(frame, 13)(ctypes.addressof(made)) is None
        assert _interface_function(frame, 14)(ctypes.addressof(made)) is None
        frame.future = made.future

    def count(frame: Any, buffers: Any, attributes: Any) -> int | None:
        stages.append(frame.stage)
        buffers[1][...] = buffers[0] + 1
        wrong = Error(message=b"more than five", code=9)
        return _interface_function(frame, 0)(ctypes.addressof(wrong)) if buffers[0] > 5 else None

    _register("tests.staged", prepare=early, initialize=early, execute=count)
    call = jax.ffi.ffi_call("tests.staged", jax.ShapeDtypeStruct((), np.float32))
    program = xe.jit(lambda x: jax.lax.fori_loop(0, 3, lambda k, c: call(c), x))
    assert float(program(X)) == 4 and stages == [1, 2, 3] * 3
    with pytest.raises(ForeignError, match=r"tests\.staged failed: more than five") as problem:
        program(np.float32(4))
    assert problem.value.status == 9
    assert float(program(X)) == 4


@needs_jax
@pytest.mark.usefixtures("runs_here")
def test_a_call_may_be_left_to_the_evaluator_and_has_no_object_file() -> None:
    import jax

    _register(
        "tests.plus_one",
        execute=lambda frame, buffers, attributes: buffers[1].__setitem__(Ellipsis, buffers[0] + 1),
    )
    call = jax.ffi.ffi_call("tests.plus_one", jax.ShapeDtypeStruct((3,), np.float32))
    x = np.arange(3, dtype=np.float32)
    session = xe.compile(xe.from_jax(lambda x: call(x), x))
    (step,) = [s for s in session.executable.steps if s.opcode == "custom-call"]
    assert step.runs_on == "library"
    forbidden = session.override(forbid=[("native-code", step.name)])
    assert [s.runs_on for s in forbidden.executable.steps] == ["evaluator"]
    for one in (session, forbidden):
        np.testing.assert_array_equal(one.executable.execute([x])[0], x + 1)
    with pytest.raises(xe.XlaExplorerError, match="registered in this process"):
        xe.aot(session.source, libraries=True)


@needs_jax
@pytest.mark.usefixtures("runs_here")
def test_what_a_handler_keeps_and_what_it_says_went_wrong() -> None:
    import jax

    kept = ctypes.c_int64()

    class Kept(ctypes.Structure):
        _fields_ = [
            ("head", ctypes.c_size_t * 2),
            ("context", ctypes.c_size_t),
            ("stage", ctypes.c_int32),
            ("type_id", ctypes.c_size_t),
            ("state", ctypes.c_size_t),
        ]  # as ctypes wants it

    class Wrong(ctypes.Structure):
        _fields_ = [
            ("head", ctypes.c_size_t * 2),
            ("message", ctypes.c_char_p),
            ("code", ctypes.c_int32),
        ]  # as ctypes wants it

    def start(frame: Any, buffers: Any, attributes: Any) -> None:
        kept.value = attributes["first"]
        given = Kept(
            context=frame.context, stage=interface.INSTANTIATE, state=ctypes.addressof(kept)
        )
        assert _interface_function(frame, 7)(ctypes.addressof(given)) is None

    def count(frame: Any, buffers: Any, attributes: Any) -> int | None:
        given = Kept(context=frame.context, stage=interface.INSTANTIATE)
        assert _interface_function(frame, 8)(ctypes.addressof(given)) is None
        number = ctypes.c_int64.from_address(given.state)
        number.value += 1
        buffers[1][...] = number.value
        wrong = Wrong(message=b"counted too far", code=11)
        return _interface_function(frame, 0)(ctypes.addressof(wrong)) if number.value > 42 else None

    _register("tests.counter", instantiate=start, execute=count)
    shape = jax.ShapeDtypeStruct((), np.float32)
    program = xe.jit(
        lambda x: jax.ffi.ffi_call("tests.counter", shape, has_side_effect=True)(x, first=40)
    )
    assert [float(program(X)) for _ in range(2)] == [41, 42]
    with pytest.raises(ForeignError, match=r"tests\.counter failed: counted too far") as problem:
        program(X)
    assert problem.value.status == 11


@needs_jax
def test_native_code_and_ctypes_mean_the_same_words() -> None:
    assert (interface.Frame.stage.offset, interface.Frame.future.offset) == (
        foreign_call.FRAME_STAGE,
        foreign_call.FRAME_FUTURE,
    )
    assert interface.Buffer.data.offset == foreign_call.BUFFER_DATA
    assert foreign_call.STAGES == (interface.PREPARE, interface.INITIALIZE, interface.EXECUTE)


@needs_jax
@pytest.mark.usefixtures("runs_here")
def test_a_function_that_nobody_registered() -> None:
    import jax

    program = xe.jit(
        lambda x: jax.ffi.ffi_call("tests.unheard_of", jax.ShapeDtypeStruct((), np.float32))(x)
    )
    with pytest.raises(xe.XlaExplorerError, match=r"tests\.unheard_of"):
        program(X)


def test_attributes_have_their_types() -> None:
    found = read_foreign_attributes(
        '{b = 1 : ui8, a = -2.5e+00 : f32, inf = 0x7FF0000000000000 : f64, n = 3, half = 1.0 : bf16, t = false, u, s = "x\\22",'
        " d = dense<[1, 2]> : tensor<2xi16>, e = array<i32: 3, 4>, w = array<f32: 0.5>, z = array<i64>, m = {k = true}}"
    )
    assert list(found) == sorted(found)
    numbers = {
        name: (value[0].name, value[1].tolist())
        for name, value in found.items()
        if isinstance(value, tuple)
    }
    assert numbers == {
        "a": ("f32", -2.5), "b": ("u8", 1), "inf": ("f64", float("inf")), "n": ("s64", 3), "half": ("bf16", 1.0), "t": ("pred", False),
        "u": ("pred", True), "d": ("s16", [1, 2]), "e": ("s32", [3, 4]), "w": ("f32", [0.5]), "z": ("s64", []),
    }  # fmt: skip
    assert found["s"] == 'x"' and found["m"]["k"][1].tolist() is True  # type: ignore[index, call-overload]
    with pytest.raises(StablehloError, match="an array of one dimension"):
        read_foreign_attributes("{x = dense<[[1, 2]]> : tensor<1x2xi32>}")


@needs_jax
@pytest.mark.parametrize("backend", ["cpu", "interpreter"])
@pytest.mark.parametrize(
    "told",
    [
        "(f32[4])->f32[100000000]",
        "(f32[400])->f32[4]",
        "(f64[4])->f32[4]",
        "(f32[4])->(f32[4],f32[4])",
        "()->f32[4]",
        "f32[4]",
        "what->ever",
    ],
)
@pytest.mark.usefixtures("runs_here")
def test_a_text_cannot_give_a_function_other_arrays_than_there_are(told: str, backend: str) -> None:
    import jax

    seen: list[Any] = []

    def run(frame: Any, buffers: Any, attributes: Any) -> None:
        seen.append([b.shape for b in buffers])

    _register("tests.told", execute=run)
    shape = jax.ShapeDtypeStruct((4,), np.float32)
    x = np.ones(4, np.float32)
    xe.jit(lambda x: jax.ffi.ffi_call("tests.told", shape)(x))(x)
    seen.clear()
    text = f"""HloModule m
ENTRY e {{
  a = f32[4] parameter(0)
  ROOT r = f32[4] custom-call(a), custom_call_target="tests.told", api_version=API_VERSION_TYPED_FFI, frontend_attributes={{{foreign_call.FOREIGN}="{told}"}}
}}"""
    with pytest.raises(XlaExplorerError, match="names the shapes"):
        xe.compile(text, backend=backend, cache=False)(x)
    assert seen == []
