"""`why_slow`: each rule finds its own cause only; the page's figures come from records."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.explorer import real_xla
from xla_explorer.explorer.advice.rules import Facts, KernelFact
from xla_explorer.explorer.real_xla import enough_rounds, recorded_runs, timed_each_round
from xla_explorer.explorer.xla.advice import advise
from xla_explorer.explorer.xla.flag_sweeps import given
from xla_explorer.frontends.xla_profile import KernelEvent
from xla_explorer.hlo.instruction import HloInstruction


def _kernel(text: str, name: str = "r") -> HloInstruction:
    return xe.parse_hlo(f"HloModule m\n{text}").find(name)


ADD = _kernel("ENTRY e { x = f32[8] parameter(0)  ROOT r = f32[8] add(x, x) }")
LOOP = _kernel(
    "b { p = f32[8] parameter(0)  ROOT n = f32[8] negate(p) } c { p = f32[8] parameter(0)  ROOT t = pred[] constant(true) } "
    "ENTRY e { x = f32[8] parameter(0)  ROOT r = f32[8] while(x), condition=c, body=b }"
)
COPIES = _kernel(
    "f { p = f32[8,4]{1,0} parameter(0)  t = f32[4,8]{1,0} transpose(p), dimensions={1,0}  ROOT c = f32[4,8]{0,1} copy(t) } "
    "ENTRY e { x = f32[8,4]{1,0} parameter(0)  ROOT r = f32[4,8]{0,1} fusion(x), kind=kLoop, calls=f }"
)
FOR_PRODUCT = _kernel(
    "f { p = f32[8,4]{1,0} parameter(0)  e = f32[8,4]{1,0} exponential(p)  ROOT c = f32[8,4]{0,1} copy(e) } "
    "ENTRY e { x = f32[8,4]{1,0} parameter(0)  k = f32[8,4]{0,1} fusion(x), kind=kLoop, calls=f  "
    "ROOT r = f32[4,4] dot(k, x), lhs_contracting_dims={0}, rhs_contracting_dims={0} }", "k"
)  # fmt: skip
STACKED = _kernel(
    "f { p = f32[2,8,4] parameter(0)  t = f32[8,2,4] transpose(p), dimensions={1,0,2}  c = f32[8,2,4] copy(t)  ROOT b = f32[8,8] bitcast(c) } "
    "ENTRY e { w = f32[2,8,4] parameter(0)  x = f32[3,8] parameter(1)  k = f32[8,8] fusion(w), kind=kLoop, calls=f  "
    "ROOT r = f32[3,8] dot(x, k), lhs_contracting_dims={1}, rhs_contracting_dims={0} }", "k"
)  # fmt: skip
CONVOLUTION = _kernel(
    "f { p = f32[1,8,8,4] parameter(0)  k = f32[3,3,4,4] parameter(1)  "
    "ROOT c = f32[1,6,6,4] convolution(p, k), window={size=3x3}, dim_labels=b01f_01io->b01f } "
    "ENTRY e { x = f32[1,8,8,4] parameter(0)  k = f32[3,3,4,4] parameter(1)  ROOT r = f32[1,6,6,4] fusion(x, k), kind=kCustom, calls=f }"
)
DOUBLES = _kernel("ENTRY e { x = f64[8] parameter(0)  ROOT r = f64[8] add(x, x) }")
SCATTER = _kernel(
    "a { p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT s = f32[] add(p, q) } "
    "ENTRY e { x = f32[3,8] parameter(0)  k = s32[4,1] parameter(1)  u = f32[4,3] parameter(2)  ROOT r = f32[3,8] scatter(x, k, u), "
    "update_window_dims={1}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, index_vector_dim=1, to_apply=a }"
)


@pytest.mark.parametrize(
    ("says", "gain", "idle", "kernels"),
    [
        (
            "unroll=8",
            55.0,
            40.0,
            [KernelFact(LOOP, 15, 1, "m.py:1"), KernelFact(ADD, 90, 90, "m.py:2")],
        ),
        (
            "small_while_loop",
            75.0,
            5.0,
            [KernelFact(LOOP, 15, 1, "m.py:1")] + [KernelFact(ADD, 11, 10, "m.py:2")] * 10,
        ),
        (
            "x.reshape(-1, n) @ w",
            60.0,
            0.0,
            [KernelFact(FOR_PRODUCT, 60, 1, "m.py:2"), KernelFact(ADD, 40, 1, "m.py:9")],
        ),
        (
            'einsum("end,edf->enf"',
            70.0,
            0.0,
            [
                KernelFact(STACKED, 10, 1, "m.py:9"),
                KernelFact(STACKED.users[0], 20, 1, "m.py:2"),
                KernelFact(FOR_PRODUCT, 60, 1, "m.py:2"),
            ],
        ),
        (
            "xla_cpu_experimental_ynn_fusion_type=",
            70.0,
            0.0,
            [KernelFact(CONVOLUTION, 80, 1, "m.py:2", 10.0)],
        ),
        ("jax.vmap", 40.0, 40.0, [KernelFact(ADD, 1, 1, "m.py:2")] * 20),
        (
            "carry less through the loop",
            60.0,
            0.0,
            [KernelFact(COPIES, 60, 4, "m.py:2"), KernelFact(ADD, 40, 1, "m.py:9")],
        ),
        ("32 bits", 45.0, 0.0, [KernelFact(DOUBLES, 90, 1, "m.py:2")]),
        ("keep the indexed dimension first", 80.0, 0.0, [KernelFact(SCATTER, 80, 1, "m.py:2")]),
    ],
)
def test_a_rule_says_what_it_saw_and_what_to_change(
    says: str, gain: float, idle: float, kernels: list[KernelFact]
) -> None:
    (advice,) = advise(Facts(200.0, idle, kernels))
    assert (
        says in advice.sentence
        and advice.gain_us == pytest.approx(gain)
        and advice.line == "m.py:2"
    )


def test_what_is_small_is_not_worth_a_sentence() -> None:
    small = [
        KernelFact(i, 1, 1, "", 0.1)
        for i in (LOOP, COPIES, DOUBLES, SCATTER, FOR_PRODUCT, CONVOLUTION, ADD)
    ]
    assert advise(Facts(1000.0, 10.0, [*small, KernelFact(ADD, 900, 1, "")])) == []


def test_time_without_a_kernel_is_not_put_down_to_more_starts_than_there_are() -> None:
    few = [KernelFact(ADD, 1, 1, "")] * 20
    assert [one.gain_us for one in advise(Facts(1000.0, 900.0, few))] == [200]
    assert advise(Facts(100_000.0, 90_000.0, few)) == []


def test_the_largest_gain_stands_first() -> None:
    kernels = [
        KernelFact(COPIES, 20, 2, ""),
        KernelFact(SCATTER, 70, 1, ""),
        KernelFact(DOUBLES, 60, 1, ""),
    ]
    assert [advice.gain_us for advice in advise(Facts(200.0, 0.0, kernels))] == [70, 30, 20]


@pytest.mark.parametrize(
    ("run_us", "repeats", "each"), [(900.0, 20, 4), (900.0, 3, 1), (1.2e6, 20, 1), (1.2e6, 5, 1)]
)
def test_a_long_program_is_timed_once_a_round(run_us: float, repeats: int, each: int) -> None:
    assert timed_each_round(run_us, repeats) == each


def test_a_loaded_machine_has_fewer_rounds_but_two() -> None:
    assert list(enough_rounds(lambda: 0.0)) == [0, 1, 2, 3, 4]
    assert list(enough_rounds(iter([0.0, 3.0, 9.0]).__next__)) == [0, 1, 2]
    assert list(enough_rounds(iter([0.0, 60.0]).__next__)) == [0, 1]
    assert [recorded_runs(us) for us in (50.0, 0.99e6, 1.3e6, 9e6)] == [5, 5, 3, 2]


@pytest.mark.jax
def test_a_page_of_a_jax_function() -> None:
    jax = pytest.importorskip("jax", reason="needs the extra `jax`")
    jnp = jax.numpy

    def loss(w, x):  # type: ignore[no-untyped-def]
        carry, _ = jax.lax.scan(
            lambda c, row: (jnp.tanh(c * 0.9 + row), None), jnp.zeros(64), x @ w
        )
        return carry.sum()

    page = xe.xla.why_slow(jax.grad(loss), jnp.ones((64, 64)), jnp.ones((96, 64)), repeats=5)
    assert page.run_us > 0 and page.ours_us is not None and page.profile.joined_share == 1
    assert {kernel.bound for kernel in page.kernels} <= {
        "memory",
        "arithmetic",
        "launch",
        "latency",
    }
    (lines,) = [block for block in page.blocks() if getattr(block, "title", "") == "source lines"]
    assert sum(row[1] for row in lines.rows) == pytest.approx(
        sum(kernel.median_us for kernel in page.kernels)
    ), "both tables are of one run"
    text = str(page)
    assert all(
        title in text
        for title in (
            "source lines",
            "kernels",
            "not fused by XLA",
            "try first:",
            "our compiler takes",
        )
    )
    assert len(text.splitlines()) < 50 and "test_why_slow.py" in text


@pytest.mark.jax
def test_arguments_of_a_function_are_taken_as_jax_takes_them() -> None:
    """Typed random keys, and 64-bit integers and floats of numpy, without 64 bits in JAX."""
    jax = pytest.importorskip("jax", reason="needs the extra `jax`")
    module, leaves = given(
        lambda key, of: jax.random.normal(key, (4,)) + of["a"] + of["b"],
        (jax.random.key(3), {"a": np.arange(4), "b": 0.5}),
    )
    assert [leaf.dtype for leaf in leaves] == [np.uint32, np.int32, np.float32] and leaves[
        0
    ].tolist() == [0, 3]
    assert np.array_equal(
        xe.evaluate(module, *leaves), xe.evaluate(module, jax.random.key(3), *leaves[1:])
    )


def test_a_program_that_our_compiler_refuses_is_not_timed_by_it() -> None:
    """The page is about XLA: it stands without ours."""
    module = xe.parse_hlo(
        'ENTRY e { x = f32[4] parameter(0)  ROOT c = f32[4] custom-call(x), custom_call_target="of_nobody" }'
    )
    assert real_xla._ours(module, xe.random_arguments(module)) is None
    assert (
        real_xla._ours(
            xe.parse_hlo("ENTRY e { x = f32[4] parameter(0)  ROOT r = f32[4] negate(x) }"),
            [np.zeros(4, np.float32)],
        )
        is not None
    )


@pytest.mark.long
def test_the_first_recorded_run_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The recorder begins with it."""
    asked = []

    def record(leaves: list[object], repeats: int) -> list[KernelEvent]:
        asked.append(repeats)
        took = [50, *[10] * (repeats - 1)]
        return [
            KernelEvent("CPU", "thread", "m", 1, "r", "r", run, run * 100, us, us)
            for run, us in enumerate(took)
        ]

    session = SimpleNamespace(source=SimpleNamespace(name="m"), module=None)
    monkeypatch.setattr(real_xla, "_xla", lambda session: SimpleNamespace(record=record))
    found = real_xla._recorded(session, [], 3)
    assert (
        asked == [4]
        and len(found.runs()) == 3
        and round(found.kernels()["total_us"].sum() * 1e6) == 30
    )


def test_wide_values_inside_a_kernel_are_seen() -> None:
    """The kernel reads and writes 32 bits, and computes in 64."""
    kernel = _kernel("""inside { p = f32[8] parameter(0)  w = f64[8] convert(p)
      s = f64[8] sine(w)  ROOT n = f32[8] convert(s) }
    ENTRY e { x = f32[8] parameter(0)  ROOT r = f32[8] fusion(x), kind=kLoop, calls=inside }""")
    (advice,) = advise(Facts(200.0, 0.0, [KernelFact(kernel, 90, 1, "m.py:2")]))
    assert advice.gain_us == 45.0 and "32 bits" in advice.sentence
