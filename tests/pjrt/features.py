"""Uses of JAX, one function each, in a process whose platform is the plugin.

Prints a line of JSON for each: name and what went wrong.

JAX_PLATFORMS=xla_explorer,cpu python tests/pjrt/features.py [names]
"""

from __future__ import annotations

import concurrent.futures
import ctypes
import gc
import importlib.util
import json
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

FEATURES: list[Callable[[], None]] = []
RANDOM = np.random.default_rng(0)


def feature(function: Callable[[], None]) -> Callable[[], None]:
    FEATURES.append(function)
    return function


def close(a: Any, b: Any, tolerance: float = 1e-5) -> None:
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=tolerance, atol=tolerance)


def raises(kind: type[BaseException], *words: str) -> Any:
    """Return a checked call that must raise: `raises(ValueError, "word")(function)`."""

    def check(function: Callable[[], Any]) -> None:
        try:
            function()
        except kind as problem:
            assert all(word in str(problem) for word in words), str(problem)
        else:
            raise AssertionError(f"no {kind.__name__}")

    return check


def normal(*shape: int) -> Any:
    return RANDOM.standard_normal(shape).astype(np.float32)


@feature
def scalars_and_eager() -> None:
    assert float(jax.jit(lambda x: x + 1)(3.0)) == 4
    close(jnp.arange(10.0) * jnp.sin(1.0), np.arange(10) * np.sin(1))


@feature
def arrays_from_and_to_the_host() -> None:
    x = normal(33, 7)
    for given in (x, x.T, x[::2, ::-1], x[:, :1], np.broadcast_to(x[:, :1], (33, 4))):
        close(jax.device_put(given), given)
    assert jnp.zeros((0, 3)).shape == (0, 3) and np.asarray(jnp.zeros((0, 3))).size == 0
    large = normal(300, 500)
    close(jax.device_put(large)[3], large[3])
    source = np.ones(1000, np.float32)
    made = jnp.array(source)
    source[:] = 7
    close(made, np.ones(1000))


@feature
def element_types() -> None:
    names = (
        "bool",
        "int8",
        "uint8",
        "int16",
        "uint16",
        "int32",
        "uint32",
        "float16",
        "bfloat16",
        "float32",
        "complex64",
        "float8_e5m2",
        "float8_e4m3fn",
        "int4",
        "uint4",
    )
    if tuple(map(int, jax.__version__.split(".")[:2])) >= (0, 12):
        names += ("float6_e2m3fn", "float6_e3m2fn")
    x = jnp.array([0, 1, 1, 0])
    given = jax.jit(lambda x: [x.astype(name) for name in names])(x)
    for name, y in zip(
        names,
        jax.jit(lambda rows: [jnp.concatenate([row, row]) for row in rows])(given),
        strict=True,
    ):
        assert y.dtype == name, name
        assert [complex(v).real for v in np.asarray(y)] == [0, 1, 1, 0] * 2, name
    bit = getattr(ml_dtypes, "int1", None)  # which JAX 0.12 lowers as a boolean
    if bit is not None and tuple(map(int, jax.__version__.split(".")[:2])) >= (0, 12):
        for given in (bit(1), np.ones(3, bit)):
            assert (
                np.asarray(jax.jit(lambda x: jnp.broadcast_to(x, (9, 3)).astype(np.int32))(given))
                == 1
            ).all()


@feature
def unknown_element_types() -> None:
    """Check that a buffer of an unknown PJRT type is refused at any rank.

    No code may read unwritten bytes.
    """
    from xla_explorer.pjrt import devices, layouts, records, state

    (device,) = [
        o for o in records._owners.values() if isinstance(o, devices.Device) and o.number == 0
    ]
    function = layouts.CALLBACK(state.native().addresses["Client_BufferFromHostBuffer"])
    arguments = layouts.ARGUMENTS["Client_BufferFromHostBuffer"]
    for dims in ((), (3,)):
        sizes = (ctypes.c_int64 * 1)(*dims)
        data = (ctypes.c_char * 3)()
        given = arguments(
            ctypes.sizeof(arguments),
            data=ctypes.addressof(data),
            type=len(layouts.BUFFER_TYPES),
            dims=ctypes.addressof(sizes),
            num_dims=len(dims),
            device=device.handle,
        )
        error = function(ctypes.addressof(given))
        assert error, dims
        record = records.ErrorRecord.from_address(error)
        assert b"no arrays of PJRT's element type" in ctypes.string_at(record.message)


@feature
def wide_types() -> None:
    with (jax.enable_x64 if hasattr(jax, "enable_x64") else jax.experimental.enable_x64)(True):
        x = jnp.arange(3, dtype=jnp.float64) / 3
        assert x.dtype == np.float64
        close(x.sum(), 1.0, 1e-15)
        assert int(jnp.array(2**40, dtype=jnp.int64) + 1) == 2**40 + 1
        assert jnp.exp(jnp.complex128(1j)).dtype == np.complex128


@feature
def gradients() -> None:
    close(
        jax.grad(lambda x: jnp.sum(jnp.tanh(x) ** 2))(jnp.ones(3)),
        2 * np.tanh(1) * (1 - np.tanh(1) ** 2) * np.ones(3),
    )
    close(
        jax.jit(jax.hessian(lambda x: jnp.sum(x**3)))(np.array([1.0, 2.0], "f4")),
        np.diag([6.0, 12.0]),
    )


@feature
def vmap_and_scan() -> None:
    total, rows = jax.vmap(lambda x: jax.lax.scan(lambda c, a: (c + a, c * a), 0.0, x))(
        jnp.arange(12.0).reshape(3, 4)
    )
    close(total, [6, 22, 38])
    assert rows.shape == (3, 4)


@feature
def control_flow() -> None:
    assert int(jax.lax.while_loop(lambda c: c < 100, lambda c: c * 2 + 1, 1)) == 127
    assert int(jax.lax.fori_loop(0, 10, lambda i, c: c + i, 0)) == 45
    close(jax.lax.cond(True, lambda x: x + 1, lambda x: x - 1, 1.0), 2.0)
    close(jax.lax.switch(2, [lambda x: x, lambda x: -x, lambda x: x * 10], 3.0), 30.0)


@feature
def results_in_a_tree() -> None:
    a, (b, c) = jax.jit(lambda x: (x + 1, (x * 2, {"k": x})))(jnp.arange(3.0))
    close(a, [1, 2, 3]), close(b, [0, 2, 4]), close(c["k"], [0, 1, 2])
    x = jnp.arange(4.0)
    y, z = jax.jit(lambda a: (a, a))(x)
    x.delete()
    close(y, np.arange(4)), close(z, np.arange(4))


@feature
def donation() -> None:
    f = jax.jit(lambda x: x * 2, donate_argnums=0)
    x = jnp.arange(1000.0)
    place = x.unsafe_buffer_pointer()
    y = f(x)
    assert x.is_deleted() and y.unsafe_buffer_pointer() == place, "in place"
    close(y, np.arange(1000) * 2)
    raises(RuntimeError, "delete")(lambda: x + 1)
    seen = np.asarray(y)
    before = seen.copy()
    z = f(y)  # y has a view: its memory stays
    close(seen, before), close(z, before * 2)
    aliased = RANDOM.standard_normal(100_000).astype(np.float32)
    kept = aliased.copy()
    f(jax.device_put(aliased))
    assert (aliased == kept).all(), "the caller's memory is not written"
    w = jnp.arange(5.0)
    raises(Exception, "donate")(
        lambda: jax.jit(lambda a, b: (a + 1, b + 1), donate_argnums=(0, 1))(w, w)
    )


@feature
def deleted_arrays_keep_their_views() -> None:
    x = jnp.arange(1000.0) + 1
    seen = np.asarray(x)
    x.delete()
    y = jnp.arange(1000.0) * 3
    close(seen, np.arange(1000) + 1), close(y, np.arange(1000) * 3)


@feature
def random_keys() -> None:
    draw, drawn = (
        jax.jit(lambda key: (jax.random.bits(key, (9,)), jax.random.uniform(key, (5,)))),
        {},
    )
    for platform in ("xla_explorer", "cpu"):
        with jax.default_device(jax.devices(platform)[0]):
            drawn[platform] = draw(jax.random.key(42))
    (bits, floats), cpu = drawn["xla_explorer"], drawn["cpu"]
    np.testing.assert_array_equal(np.asarray(bits), np.asarray(cpu[0]))
    close(floats, cpu[1], 1e-6)
    assert sorted(
        np.asarray(jax.jit(lambda key: jax.random.permutation(key, 10))(jax.random.key(1)))
    ) == list(range(10))


@feature
def samplers_by_rejection() -> None:
    """JAX may compile in a thread that flushes subnormal numbers."""
    for draw in (
        lambda key: jax.random.gamma(key, 0.5, (13,)),
        lambda key: jax.random.beta(key, 0.5, 0.7, (13,)),
        lambda key: jax.random.poisson(key, 3.0, (13,)),
    ):
        drawn = []
        for platform in ("xla_explorer", "cpu"):
            with jax.default_device(jax.devices(platform)[0]):
                drawn.append(np.asarray(draw(jax.random.key(0))))
        close(drawn[0], drawn[1], 1e-5)


@feature
def between_platforms() -> None:
    cpu = jax.devices("cpu")[0]
    x = jnp.arange(6.0).reshape(2, 3)
    y = jax.device_put(x, cpu)
    assert y.devices() == {cpu}
    z = jax.device_put(y.T, jax.devices()[0])
    assert z.devices() == {jax.devices()[0]}
    close(z, np.arange(6).reshape(2, 3).T)


@feature
def linear_algebra() -> None:
    def all_of(m: Any, a: Any, s: Any, b: Any) -> Any:
        triangle, q_and_r = m.linalg.cholesky(s), m.linalg.qr(b)
        return (
            triangle,
            m.linalg.solve(s, b[:5]),
            m.linalg.inv(s),
            m.linalg.svd(a, compute_uv=False),
            m.linalg.eigvalsh(a + a.T),
            *q_and_r,
        )

    a, b = normal(5, 5), normal(6, 4)
    s = a @ a.T + 5 * np.eye(5, dtype=np.float32)
    *ours, q, r = jax.jit(lambda *given: all_of(jnp, *given))(a, s, b)
    for mine, theirs in zip(ours, all_of(np, a, s, b), strict=False):
        close(mine, theirs, 1e-3)
    close(q.T @ q, np.eye(4), 1e-5), close(q @ r, b, 1e-5)


@feature
def transforms_sorts_and_convolutions() -> None:
    x = normal(4, 100)
    close(jnp.abs(jnp.fft.fft(x)), np.abs(np.fft.fft(x)), 1e-4)
    assert (np.asarray(jnp.argsort(x)) == np.argsort(x)).all()
    close(jax.lax.top_k(jnp.array(x), 3)[0], -np.sort(-x)[:, :3])
    close(jax.lax.approx_max_k(jnp.array(x), 3)[0], -np.sort(-x)[:, :3])
    assert (
        float(
            jax.lax.conv(jnp.ones((1, 3, 8, 8)), jnp.ones((4, 3, 3, 3)), (1, 1), "SAME")[0, 0, 4, 4]
        )
        == 27
    )


@feature
def dot_algorithms() -> None:
    a, b = normal(8, 16), normal(16, 4)
    for name in ("BF16_BF16_F32_X3", "F32_F32_F32", "TF32_TF32_F32_X3"):
        close(jax.lax.dot(a, b, precision=jax.lax.DotAlgorithmPreset[name]), a @ b, 1e-4)


@feature
def ahead_of_time() -> None:
    lowered = jax.jit(lambda x: jnp.sin(x) @ x).lower(jnp.ones((4, 4)))
    compiled = lowered.compile()
    assert "HloModule" in compiled.as_text() and compiled.cost_analysis()["flops"] > 0
    assert compiled.memory_analysis().argument_size_in_bytes == 64
    close(compiled(jnp.ones((4, 4))), np.sin(1) * 4 * np.ones((4, 4)))


@feature
def options_of_a_compile() -> None:
    from xla_explorer import pjrt

    lowered = jax.jit(lambda x: x - 3).lower(1.0)
    close(
        lowered.compile(
            compiler_options={"backend": "interpreter", "xla_cpu_enable_fast_math": True}
        )(5.0),
        2.0,
    )
    assert pjrt.sessions[-1].backend == "interpreter"
    raises(Exception, "INVALID_ARGUMENT", "No such compile option: 'thread'", "threads")(
        lambda: lowered.compile(compiler_options={"thread": "2"})
    )
    raises(Exception, "threads must be an integer")(
        lambda: lowered.compile(compiler_options={"threads": "many"})
    )
    for flag, value, kind in (
        ("embed_ir_in_executable", "on", "bool"),
        ("backend_optimization_level", "1e3", "int32"),
        ("dump_to", 3, "string"),
    ):
        said = f"INVALID_ARGUMENT: While setting option xla_{flag}, '{value}' is not a valid {kind} value."
        raises(Exception, said)(
            lambda f=flag, v=value: lowered.compile(compiler_options={f"xla_{f}": v})
        )
    lowered.compile(
        compiler_options={
            "xla_backend_optimization_level": "2",
            "xla_cpu_enable_fast_math": "False",
            "xla_flag_of_another_xla": "?",
        }
    )


@feature
def export() -> None:
    from jax import export

    exported = export.export(jax.jit(lambda x: x * 2), platforms=("cpu", "xla_explorer"))(
        jax.ShapeDtypeStruct((3,), jnp.float32)
    )
    close(jax.jit(exported.call)(jnp.arange(3.0)), [0, 2, 4])
    if importlib.util.find_spec("flatbuffers"):  # which JAX does not install
        close(jax.jit(export.deserialize(exported.serialize()).call)(jnp.arange(3.0)), [0, 2, 4])
    (n,) = export.symbolic_shape("n")
    exported = export.export(
        jax.jit(lambda x: x / x.shape[0] + x.sum()), platforms=("xla_explorer",)
    )(jax.ShapeDtypeStruct((n,), jnp.float32))
    close(jax.jit(exported.call)(jnp.arange(4.0)), np.arange(4) / 4 + 6)


@feature
def error_messages() -> None:
    call = jax.ffi.ffi_call("no_such_target", jax.ShapeDtypeStruct((3,), jnp.float32))
    raises(Exception, "UNIMPLEMENTED: ", "no_such_target", "hint: give it a meaning")(
        lambda: jax.jit(lambda x: call(x))(np.ones(3, "f4"))
    )
    misspelled = jax.jit(lambda x: x + 1, compiler_options={"bakend": "cpu"})
    raises(
        Exception, "INVALID_ARGUMENT: No such compile option: 'bakend'", "did you mean backend?"
    )(lambda: misspelled(1.0))


@feature
def memory_statistics() -> None:
    gc.collect()
    before = jax.devices()[0].memory_stats()["bytes_in_use"]
    x = jnp.ones((100, 100)) + 1
    x.block_until_ready()
    assert jax.devices()[0].memory_stats()["bytes_in_use"] - before == 40_000
    x.delete()
    assert jax.devices()[0].memory_stats()["bytes_in_use"] == before


@feature
def callbacks() -> None:
    shape = jax.ShapeDtypeStruct((3,), jnp.float32)
    close(jax.jit(lambda x: jax.pure_callback(np.sin, shape, x))(jnp.ones(3)), np.sin(np.ones(3)))
    seen: list[int] = []

    def note(x: Any) -> Any:
        seen.append(int(x))
        return np.float32(x)

    def body(k: Any, c: Any) -> Any:
        from jax.experimental import io_callback

        return c + io_callback(note, jax.ShapeDtypeStruct((), jnp.float32), k, ordered=True)

    close(jax.jit(lambda: jax.lax.fori_loop(0, 4, body, 0.0))(), 6.0)
    jax.effects_barrier()
    assert seen == [0, 1, 2, 3]
    close(
        jax.jit(lambda x: jax.pure_callback(lambda a: np.asarray(jnp.sin(a) * 2), shape, x))(
            jnp.ones(3)
        ),
        2 * np.sin(np.ones(3)),
    )
    for value, kind in ((3, jnp.int32), (2.5, jnp.float32), (True, jnp.bool_), (1j, jnp.complex64)):
        number = jax.jit(
            lambda x, value=value, kind=kind: jax.pure_callback(
                lambda _: value, jax.ShapeDtypeStruct((), kind), x
            )
        )
        close(number(1.0), value)
    wrong = jax.jit(lambda x: jax.pure_callback(lambda a: np.ones(7, np.float32), shape, x))
    raises(Exception, "callback")(lambda: wrong(jnp.ones(3)).block_until_ready())
    raises(Exception, "own words")(
        lambda: jax.jit(lambda x: jax.pure_callback(_fails, shape, x))(
            jnp.ones(3)
        ).block_until_ready()
    )


def _fails(_: Any) -> Any:
    raise ValueError("own words")


@feature
def callbacks_that_fill_buffers() -> None:
    try:
        from jax.experimental.buffer_callback import buffer_callback
    except ImportError:  # an older JAX
        return

    def add(ctx: Any, out: Any, x: Any, *, by: Any) -> None:
        raises(Exception, "GPU")(lambda: ctx.stream)
        np.asarray(out)[...] += np.asarray(x) + np.asarray(by)

    call = buffer_callback(
        add, jax.ShapeDtypeStruct((3,), jnp.float32), input_output_aliases={0: 0}
    )
    close(jax.jit(lambda x: call(x, by=x * 2) + 1)(jnp.arange(3.0)), np.arange(3) * 4 + 1)


@feature
def sparse_systems() -> None:
    """JAX's CPU solves them by SciPy, in a callback."""
    if importlib.util.find_spec("scipy") is None:
        return
    from jax.experimental.sparse.linalg import spsolve

    data, columns, rows = jnp.array([2.0, 3.0]), jnp.array([0, 1]), jnp.array([0, 1, 2])
    close(jax.jit(lambda b: spsolve(data, columns, rows, b))(jnp.array([2.0, 6.0])), [1.0, 2.0])


@feature
def a_program_in_two_threads_at_once() -> None:
    barrier = threading.Barrier(2, timeout=60)
    together = threading.Event()

    def meet(x: Any) -> Any:
        if together.is_set():
            barrier.wait()
        return x + 1

    f = jax.jit(lambda x: jax.pure_callback(meet, jax.ShapeDtypeStruct((), jnp.float32), x * 2))
    compiled = f.lower(1.0).compile()
    compiled(jnp.float32(5)).block_until_ready()  # JAX serialises first calls
    together.set()
    given = [jnp.float32(k) for k in range(2)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        close([float(y) for y in pool.map(compiled, given)], [1.0, 3.0])


@feature
def debug_print() -> None:
    printed: list[str] = []
    jax.jit(lambda x: jax.debug.callback(lambda v: printed.append(str(v)), x) or x)(1.5)
    jax.effects_barrier()
    assert printed == ["1.5"]


@feature
def checks_that_nothing_discharges() -> None:
    from jax.experimental import checkify

    if not hasattr(checkify, "debug_check"):
        return

    def checked(x: Any) -> Any:
        checkify.debug_check(x > 0, "must be positive")
        return x + 1

    close(jax.jit(checked)(-1.0), 0.0)


@feature
def tokens() -> None:
    token = jax.jit(lambda x: (jax.lax.create_token(x), x + 1))(1.0)
    close(token[1], 2.0)


@feature
def layouts_of_a_user() -> None:
    try:
        from jax.experimental.layout import Format, Layout
    except ImportError:  # an older JAX
        return
    here = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    for kind, order in (
        (np.float32, (1, 0, 2)),
        (np.int8, (2, 1, 0)),
        (np.complex64, (0, 1, 2)),
        (np.bool_, (0, 2, 1)),
    ):
        x = (RANDOM.random((3, 4, 5)) * 8).astype(kind)
        form = Format(Layout(order), here)
        placed = jax.device_put(x, form)
        assert placed.format.layout.major_to_minor == order
        for same in (
            placed,
            jax.device_put(placed, jax.devices("cpu")[0]),
            np.from_dlpack(placed),
            placed.copy(),
            placed[:],
        ):
            np.testing.assert_array_equal(np.asarray(same), x)
        f = jax.jit(
            lambda x, y: (x ^ y if x.dtype == bool else x + y, y.T),
            in_shardings=(form, None),
            out_shardings=(form, None),
        )
        for a, b in (f(placed, x), f(x, x)):
            np.testing.assert_array_equal(a, x ^ x if kind is np.bool_ else x + x)
            np.testing.assert_array_equal(b, x.T)
            assert a.format.layout.major_to_minor == order and b.format.layout.major_to_minor == (
                0,
                1,
                2,
            )
        donated = jax.jit(lambda x: x, in_shardings=form, out_shardings=form, donate_argnums=0)(
            placed
        )
        np.testing.assert_array_equal(donated, x)
        automatic = jax.jit(
            lambda x: (x.transpose(2, 0, 1), x),
            in_shardings=form,
            out_shardings=Format(Layout.AUTO),
        )
        turned, same = automatic(donated)
        np.testing.assert_array_equal(turned, x.transpose(2, 0, 1))
        np.testing.assert_array_equal(same, x)
        assert (
            turned.format.layout.major_to_minor == tuple((2, 0, 1).index(d) for d in order)
            and same.format.layout.major_to_minor == order
        )
        assert (
            placed.is_deleted()
            and f.lower(x, x).compile().input_formats[0][0].layout.major_to_minor == order
        )


@feature
def memories_of_the_host() -> None:
    device = jax.devices()[0]
    assert [memory.kind for memory in device.addressable_memories()] == [
        "device",
        "pinned_host",
        "unpinned_host",
    ]
    places = {
        kind: jax.sharding.SingleDeviceSharding(device, memory_kind=kind)
        for kind in ("device", "pinned_host", "unpinned_host")
    }
    for kind, place in places.items():
        for x in (np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((3, 4), np.int8).T):
            placed = jax.device_put(x, place)
            doubled = jax.jit(lambda x: x * 2, out_shardings=place)(placed)
            assert placed.sharding.memory_kind == doubled.sharding.memory_kind == kind, (
                placed.sharding,
                doubled.sharding,
            )
            np.testing.assert_array_equal(doubled, 2 * x)
            text = jax.jit(lambda x: x * 2, out_shardings=place).lower(x).compile().as_text()
            assert ("{1,0:S(5)}" in text.splitlines()[0]) == (kind == "pinned_host"), text
            back = jax.device_put(doubled, places["device"])
            assert back.sharding.memory_kind == "device"
            np.testing.assert_array_equal(back, 2 * x)

    from jax.ad_checkpoint import checkpoint_name

    offload = jax.checkpoint_policies.save_and_offload_only_these_names(
        names_which_can_be_saved=[],
        names_which_can_be_offloaded=["kept"],
        offload_src="device",
        offload_dst="pinned_host",
    )

    def layer(x: Any, _: Any) -> Any:
        return jnp.cos(checkpoint_name(jnp.sin(x), "kept")) * 2, None

    def gradient(layer: Any) -> Any:
        return jax.jit(jax.grad(lambda x: jax.lax.scan(layer, x, None, length=3)[0].sum()))(
            jnp.ones(4)
        )

    close(gradient(jax.checkpoint(layer, policy=offload)), gradient(layer))


@feature
def dlpack() -> None:
    x = jnp.arange(6.0)
    close(np.from_dlpack(x), np.arange(6))
    if (
        np.lib.NumpyVersion(np.__version__) >= "2.1.0"
    ):  # an older one has no way to forbid writes, and gets a copy
        assert np.from_dlpack(x).__array_interface__["data"][0] == x.unsafe_buffer_pointer(), (
            "no copy"
        )
    assert jnp.from_dlpack(x).devices() == {jax.devices("cpu")[0]}
    close(np.from_dlpack(jax.device_put(x, jax.devices("cpu")[0])), np.arange(6))
    close(jnp.from_dlpack(np.arange(6, dtype=np.float32)), np.arange(6))
    close(
        jax.device_put(jnp.from_dlpack(np.arange(6, dtype=np.float32)), jax.devices()[0]),
        np.arange(6),
    )


@feature
def nan_checks() -> None:
    with jax.debug_nans(True):
        raises(FloatingPointError)(lambda: jax.jit(lambda x: x / x)(jnp.float32(0)))


@feature
def exceptions_of_numpy() -> None:
    raises(TypeError, "isnat")(
        lambda: np.isnat(jnp.array(42) + 1)
    )  # the buffer is let go while the exception is set


@feature
def calls_and_compiles_in_threads() -> None:
    f = jax.jit(lambda x, k: jnp.sin(x) * k)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda k: float(f(jnp.ones(100), k)[0]), range(200)))
    close(results, np.sin(1) * np.arange(200), 1e-4)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        compiled = list(pool.map(lambda k: float(jax.jit(lambda x: x * k + k)(1.0)), range(4)))
    close(compiled, 2 * np.arange(4))


@feature
def compilation_cache() -> None:
    from jax._src import compilation_cache as cache

    with tempfile.TemporaryDirectory() as folder:
        jax.config.update("jax_compilation_cache_dir", folder)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
        cache.reset_cache()
        f = lambda x: jnp.cos(x) * 3 + 1  # noqa: E731
        close(jax.jit(f)(1.0), np.cos(1) * 3 + 1)
        assert list(Path(folder).iterdir())
        jax.clear_caches()
        close(jax.jit(f)(1.0), np.cos(1) * 3 + 1)
        jax.config.update("jax_compilation_cache_dir", None)
        cache.reset_cache()


@feature
def branches_for_platforms() -> None:
    def chosen(x: Any, **branches: Any) -> Any:
        return jax.jit(lambda x: jax.lax.platform_dependent(x, **branches))(x)

    x = jnp.arange(3.0)
    close(
        chosen(x, cpu=jnp.sin, cuda=jnp.cos), np.sin(x)
    )  # without a default JAX's CPU is the nearest
    close(chosen(x, cpu=jnp.sin, default=jnp.cos), np.cos(x))
    close(chosen(x, cpu=jnp.sin, xla_explorer=jnp.tan), np.tan(x))
    close(jax.grad(lambda x: chosen(x, cpu=jnp.sin, cuda=jnp.cos).sum())(x), np.cos(x))


@feature
def foreign_functions_by_address() -> None:
    from xla_explorer.frontends.foreign_calls import interface

    def double(address: int) -> None:
        frame = interface.Frame.from_address(address)
        operand, result = [
            interface.Buffer.from_address(ctypes.c_size_t.from_address(side.values).value)
            for side in (frame.arguments, frame.results)
        ]
        into, taken = [(ctypes.c_float * 4).from_address(b.data) for b in (result, operand)]
        into[:] = [2 * x for x in taken]

    kept = interface.HANDLER(double)
    call = jax.ffi.ffi_call("features.doubled", jax.ShapeDtypeStruct((4,), np.float32))
    raises(RuntimeError, "features.doubled")(lambda: jax.jit(call)(jnp.ones(4)))
    jax.ffi.register_ffi_target(
        "features.doubled", jax.ffi.pycapsule(kept), platform="xla_explorer"
    )
    close(jax.jit(lambda x: call(x) + call(x + 1))(jnp.arange(4.0)), 4 * np.arange(4.0) + 2)


@feature
def profiler_trace() -> None:
    traced = jax.jit(lambda x: jnp.sort(x) @ x.T, donate_argnums=0)
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            close(traced(jnp.ones((5, 5))), np.full((5, 5), 5.0))
            traced(jnp.ones((5, 5)))
        (file,) = Path(folder).rglob("*.xplane.pb")
        if getattr(jax.profiler, "ProfileData", None):
            (plane,) = [
                p
                for p in jax.profiler.ProfileData.from_file(str(file)).planes
                if p.name == "/device:CPU:0"
            ]
            rows = {line.name: [event.name for event in line.events] for line in plane.lines}
            assert rows["XLA Modules"].count("jit__lambda") == 2, rows
            assert len([name for name in rows["Kernels"] if name.startswith("sort")]) == 2, rows
    close(traced(jnp.ones((5, 5))), np.full((5, 5), 5.0))  # without a trace again


@feature
def dispatch_returns_before_the_end() -> None:
    slow = jax.jit(
        lambda x: jax.lax.fori_loop(0, 2_000_000, lambda k, c: c * 0.5 + jnp.float32(k), x)
    )
    slow(1.0).block_until_ready()  # adaptive: the first run shows that it takes long
    started = [slow(float(k)) for k in range(8)]
    assert not all(x.is_ready() for x in started)
    follows = started[-1] + 1  # waits for its argument on the queue
    close(follows, np.asarray(slow(7.0)) + 1)
    assert follows.is_ready() and all(x.is_ready() for x in started), "in order"


@feature
def donation_and_deletion_while_computing() -> None:
    later = {"dispatch": "asynchronous"}
    twice, give = (
        jax.jit(lambda x: x * 2, compiler_options=later),
        jax.jit(lambda x: x + 1, donate_argnums=0, compiler_options=later),
    )
    x = jnp.arange(50_000.0)
    kept = x
    for _ in range(40):  # more than the queue takes
        used = twice(x)
        x = give(x if x is not kept else x + 0)
        used.delete()
    seen = np.asarray(x)
    y = give(x)
    close(seen, np.arange(50_000) + 40), close(y, seen + 1), close(kept, np.arange(50_000))
    assert x.is_deleted()


@feature
def errors_arrive_at_the_result() -> None:
    too_much = jax.jit(
        lambda x: jnp.broadcast_to(x, (2**44,)) + 1, compiler_options={"dispatch": "asynchronous"}
    )
    made = too_much(1.0)
    first = made[:3]
    for result in (made, first):
        raises(RuntimeError, "RESOURCE_EXHAUSTED")(result.block_until_ready)
        raises(RuntimeError, "RESOURCE_EXHAUSTED")(lambda result=result: np.asarray(result))
    at_once = jax.jit(
        lambda x: jnp.broadcast_to(x, (2**44,)) + 1, compiler_options={"dispatch": "synchronous"}
    )
    raises(RuntimeError, "RESOURCE_EXHAUSTED")(lambda: at_once(1.0))
    raises(Exception, "dispatch", "adaptive")(
        lambda: jax.jit(lambda x: x, compiler_options={"dispatch": "never"})(1.0)
    )


@feature
def a_training_loop() -> None:
    def loss(w: Any, x: Any, y: Any) -> Any:
        return jnp.mean((jnp.tanh(x @ w["a"]) @ w["b"] - y) ** 2)

    step = jax.jit(
        lambda w, x, y: jax.tree.map(lambda p, g: p - 0.1 * g, w, jax.grad(loss)(w, x, y)),
        donate_argnums=0,
    )
    x, y = normal(16, 8), normal(16, 2)
    start = {"a": normal(8, 8), "b": normal(8, 2)}
    losses, value = {}, jax.jit(loss)
    for platform in ("xla_explorer", "cpu"):
        with jax.default_device(jax.devices(platform)[0]):
            w = jax.tree.map(jnp.array, start)
            for _ in range(30):
                w = step(w, x, y)
            losses[platform] = float(value(w, x, y))
    close(losses["xla_explorer"], losses["cpu"], 1e-5)
    assert losses["cpu"] < 0.5 * float(value(start, x, y))


@feature
def sessions() -> None:
    from xla_explorer import pjrt

    def very_own_name(x: Any) -> Any:
        return jnp.sum(jnp.tanh(x) * 2)

    with tempfile.TemporaryDirectory() as folder:
        pjrt.options.dump = folder
        jax.jit(very_own_name)(np.ones((64, 64), np.float32))
        pjrt.options.dump = ""
        (page,) = Path(folder).iterdir()
        assert page.name.endswith("_jit_very_own_name.html") and b"<html" in page.read_bytes()[:200]
    (session,) = pjrt.sessions.named("very_own_name")
    assert len(session.decisions("fusion"))
    assert "features.py" in str([i.metadata for i in session.source.instructions()]), (
        "source places"
    )
    assert pjrt.sessions.compiled >= len(pjrt.sessions)
    assert isinstance(pjrt.sessions[-3:], list) and "sessions of" in repr(pjrt.sessions)


@feature
def functions_exported_for_the_cpu() -> None:
    from jax import export, lax

    def branches(x: Any) -> Any:
        return lax.platform_dependent(x, tpu=lambda x: x - 1, cpu=lambda x: x + 1)

    a = normal(3, 3)
    for function, platforms in (
        (lambda x: jnp.linalg.qr(x)[1] * 2, ["cpu"]),
        (branches, ["tpu", "cpu"]),
    ):
        made = export.export(jax.jit(function), platforms=platforms)(a)
        with jax.default_device(jax.devices("cpu")[0]):
            expected = np.asarray(jax.jit(made.call)(a))
        for call in (made.call, jax.jit(lambda x, f=made.call: f(x) + 1 - 1)):
            close(call(a), expected, 1e-4)
    other = export.export(jax.jit(jnp.sin), platforms=["tpu"])(a)
    raises(ValueError, "exported for platforms", "xla_explorer")(lambda: other.call(a))


@feature
def transformations_of_hlo() -> None:
    """Check a user's passes, which get each program as a proto."""
    if importlib.util.find_spec("jax.extend.xla") is None:
        return
    from jax._src.lib import hlo
    from jax.extend import xla

    scheduled = []

    def cosines(proto: bytes) -> bytes | None:
        module = hlo.HloModule.from_serialized_hlo_module_proto(proto)
        scheduled.append(module.schedule() is not None)
        sines = [
            (c, i)
            for c in module.computations()
            for i in c.instructions()
            if i.opcode == hlo.HloOpcode.kSin
        ]
        for computation, i in sines:
            made = computation.create_unary_instruction(hlo.HloOpcode.kCos, i.operands()[0])
            computation.replace_instruction(i, made)
        schedule = module.schedule()
        if schedule is not None:
            schedule.update()
            module.set_schedule(schedule)
        return module.as_serialized_hlo_module_proto() if sines else None

    def wrong(proto: bytes) -> bytes | None:
        raise ValueError("not today")

    x = jnp.arange(4, dtype=np.float32)
    for stage in xla.PipelineStage:
        xla.register_hlo_module_transformation(cosines, name="cosines", stage=stage)
        step = jax.jit(lambda x: jnp.sin(x) * 2 + x, donate_argnums=0)
        memory = step.lower(x).compile().memory_analysis()
        assert memory.alias_size_in_bytes == memory.argument_size_in_bytes == 16, memory
        given = jnp.arange(4, dtype=np.float32)
        close(step(given), np.cos(np.arange(4)) * 2 + np.arange(4))
        assert given.is_deleted()
        close(jax.jit(lambda x: x * 3)(x), np.arange(4) * 3)  # which it leaves alone
        assert xla.clear_hlo_module_transformation("cosines", stage)
        assert not xla.clear_hlo_module_transformation("cosines", stage)
    assert {False, True} == set(scheduled), scheduled
    close(jax.jit(lambda x: jnp.sin(x) * 2)(x), np.sin(np.arange(4)) * 2)
    for name, function in (("wrong", wrong), ("nonsense", lambda proto: b"nonsense")):
        xla.register_hlo_module_transformation(function, name=name)
        raises(jax.errors.JaxRuntimeError, name)(lambda: jax.jit(lambda x: x * 5)(x))
        assert xla.clear_hlo_module_transformation(name)


@feature
def modules_dumped_as_xla_dumps_them() -> None:
    import xla_explorer as xe

    x = np.linspace(0, 1, 5, dtype=np.float32)
    with tempfile.TemporaryDirectory() as folder:
        into = {"xla_dump_to": folder, "xla_dump_hlo_as_proto": True}
        dumped = jax.jit(lambda x: jnp.sin(x) * 2, compiler_options=into)
        close(dumped(x), np.sin(x) * 2)
        for stage in ("before", "cpu_after"):
            for end in ("txt", "hlo.pb"):
                (file,) = Path(folder).glob(f"module_*.{stage}_optimizations.{end}")
                close(xe.compile(xe.load(file))(x), np.sin(x) * 2)
        blocked = Path(folder) / "file"
        blocked.touch()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            close(
                jax.jit(lambda x: x * 7, compiler_options={"xla_dump_to": str(blocked)})(x), x * 7
            )
        assert any("no dump of" in str(w.message) for w in told), told


@feature
def executions_and_compiles_leave_nothing_behind() -> None:
    from tests.pjrt.flat_memory import check

    check(200, 2)


@feature
def no_structure_is_longer_than_what_jaxlib_passes() -> None:
    """Check that no structure is longer than jaxlib's, in all calls so far.

    It runs last. A newer jaxlib appends fields.

    A newer jaxlib appends fields.
    """
    from xla_explorer.pjrt import layouts, state

    seen = state.native().struct_sizes()
    # An older jaxlib ends before the last fields of the first two, which their readers allow, and
    # its size of the third is one too small.
    for name in (
        "Executable_DeserializeAndLoad",
        "Executable_GetCompiledMemoryStats",
        "Plugin_Attributes",
    ):
        seen.pop(name, None)
    sizes = {
        name: (layouts.struct_size(layouts.ARGUMENTS[name]), size)
        for name, size in seen.items()
        if name in layouts.ARGUMENTS
    }
    assert len(seen) > 30, seen
    wrong = {name: pair for name, pair in sizes.items() if pair[0] > pair[1]}
    assert not wrong, wrong


def main(names: list[str]) -> None:
    for function in FEATURES:
        if names and function.__name__ not in names:
            continue
        wrong = ""
        try:
            function()
        except BaseException as problem:
            last = traceback.extract_tb(problem.__traceback__)[-1]
            wrong = f"{type(problem).__name__}: {str(problem)[:1500]} ({last.name}:{last.lineno})"
        print(json.dumps([function.__name__, wrong]), flush=True)
    print(json.dumps(["end", ""]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
