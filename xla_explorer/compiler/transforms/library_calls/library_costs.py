"""Estimated device times of a library call and of our kernels for the same work.

time = launches + the larger of arithmetic and memory. Rates are multiply-adds that one
multiprocessor starts per clock, by the kind of arithmetic; they are numbers of the target's GPU. If
the target provides our kernel of a product (`Abilities.products`), its arithmetic is the estimate
of the kernel's plan. The fractions of the peak that kernels reach are assumptions, not
measurements.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from xla_explorer.compiler.costs.gpu_kernel_costs import SHARE_OF_A_PRODUCT
from xla_explorer.compiler.target import OwnProduct, PlansProducts, Target, gpu_numbers
from xla_explorer.compiler.transforms.library_calls.library_call import (
    CholeskyCall,
    ConvolutionCall,
    FftCall,
    LibraryCall,
    MatmulCall,
    TriangularSolveCall,
)
from xla_explorer.hlo.instruction import HloInstruction

_HOST_US = 1.0  # cost of a library call beyond a kernel launch
_BYTES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "c64": 8, "c128": 16}
_TILE = 64
_SPLITS = 8  # split-K parts that a library spreads over idle multiprocessors
_ONE_PASS = 4096  # points of a transform that fits in shared memory
_PANEL = 128  # columns per step of a blocked factorisation


def _no_plan(dot: HloInstruction) -> OwnProduct | None:
    return None


class Rates(NamedTuple):
    """The rates of a GPU.

    library, own: by `f16`, `tf32`, `f32`, `f64`. bytes_per_us: of the device's memory.
    launch_us: from the end of a kernel to the start of the next. library_share: fraction of the
    peak that a library reaches. own_product: returns our kernel for a dot, if the target provides
    it.
    """

    multiprocessors: int
    clock: float
    bytes_per_us: float
    launch_us: float
    library: dict[str, float]
    own: dict[str, float]
    library_share: float
    own_product: PlansProducts

    @classmethod
    def of(cls, target: Target) -> Rates:
        """Return the rates of a target; an H100's if the target is not a GPU."""
        gpu, launch = gpu_numbers(target)
        return cls(
            gpu.multiprocessors,
            gpu.clock_gigahertz,
            1e3 * gpu.dram_bytes_per_nanosecond,
            launch.nanoseconds / 1e3,
            gpu.library_rates._asdict(),
            gpu.own_rates._asdict(),
            gpu.library_share,
            target.abilities.products or _no_plan,
        )

    def arithmetic_us(self, work: float, rate: float, share: float, used: float = 1.0) -> float:
        """Return the time of multiply-adds on a fraction of the multiprocessors."""
        return work / (
            max(rate, 1e-3)
            * share
            * self.clock
            * 1e3
            * self.multiprocessors
            * min(max(used, 1e-6), 1.0)
        )


class Costs(NamedTuple):
    """Microseconds on the device, of the library and of our kernels.

    For products also the parts: the time of both for memory alone, and of each for arithmetic
    alone. Ours follows from the plan of the named emitter (empty: from rates).
    """

    library_us: float
    own_us: float
    memory_us: float = 0.0
    library_arithmetic_us: float = 0.0
    own_arithmetic_us: float = 0.0
    own_emitter: str = ""

    def facts(self) -> dict[str, Any]:
        """Return the numbers of the decision."""
        parts = ("library_us", "own_us") if not self.library_arithmetic_us else self._fields[:-1]
        return {name: round(getattr(self, name), 2) for name in parts} | (
            {"own_emitter": self.own_emitter} if self.own_emitter else {}
        )


def costs_of(call: LibraryCall, rates: Rates, dot: HloInstruction | None = None) -> Costs:
    """Return the costs of a call and of our kernels. dot: the product, for our kernel's plan."""
    if isinstance(call, MatmulCall):
        return _matmul(call, rates, rates.own_product(dot) if dot is not None else None)
    if isinstance(call, FftCall):
        return _fft(call, rates)
    if isinstance(call, ConvolutionCall):
        return _convolution(call, rates, rates.own_product(dot) if dot is not None else None)
    return _solver(call, rates)


def arithmetic_of(call: MatmulCall | ConvolutionCall) -> str:
    """Return the kind of arithmetic, a key of the rates."""
    if (call.operand_type if isinstance(call, MatmulCall) else call.type) in ("f16", "bf16"):
        return "f16"
    return call.compute


def _convolution(call: ConvolutionCall, rates: Rates, planned: OwnProduct | None) -> Costs:
    size = _BYTES[call.type]
    elements = [math.prod(dims) for dims in (call.image, call.filter, call.result)]
    memory = size * sum(elements) / rates.bytes_per_us
    work = float(elements[2]) * math.prod(call.filter[1:])
    rows, columns, depth = (
        elements[2] // call.result[1],
        call.result[1] // call.groups,
        math.prod(call.filter[1:]),
    )
    if call.form == "backward-filter":
        rows, columns, depth = depth, call.filter[0] // call.groups, rows
    tiles = call.groups * -(-rows // _TILE) * -(-columns // _TILE)
    splits = min(_SPLITS, max(1, depth // 512))
    kind = arithmetic_of(call)
    own_kind = kind if rates.own.get(kind) else "f32"
    wasted, units = 1.0, rates.library[kind]
    if call.groups > 1 and columns < _TILE:
        # cuDNN computes each group as its own product, in tiles that few features do not fill,
        # without tensor cores: 93 us on an H200 for a depthwise one of 14 million products, 1 us of
        # its lanes.
        wasted, units = _TILE / columns, rates.library["f64" if kind == "f64" else "f32"]
    library = rates.arithmetic_us(
        wasted * work, units, rates.library_share, tiles / rates.multiprocessors * splits
    )
    emitter, own = planned or (
        "",
        rates.arithmetic_us(
            work, rates.own[own_kind], SHARE_OF_A_PRODUCT, tiles / rates.multiprocessors
        ),
    )
    library_us, own_us = (
        rates.launch_us + _HOST_US + max(library, memory),
        rates.launch_us + max(own, memory / 0.9),
    )
    return Costs(library_us, own_us, memory, library, own, emitter)


def _matmul(call: MatmulCall, rates: Rates, planned: OwnProduct | None) -> Costs:
    size, complex_factor = _BYTES[call.operand_type], 4 if call.operand_type.startswith("c") else 1
    copies = [call.batch if o.stride else 1 for o in (call.left, call.right)]
    moved = (
        size * (call.m * call.k * copies[0] + call.k * call.n * copies[1])
        + _BYTES[call.result_type] * call.m * call.n * call.batch
    )
    memory = moved / rates.bytes_per_us
    work = float(complex_factor * call.batch * call.m * call.n * call.k)
    tiles = call.batch * -(-call.m // _TILE) * -(-call.n // _TILE)
    used = tiles / rates.multiprocessors
    splits = min(_SPLITS, max(1, call.k // 512))
    kind = arithmetic_of(call)
    own_kind = kind if rates.own.get(kind) else "f32"
    # Partial tiles waste arithmetic in both; a skinny product is memory-bound in any case.
    library = rates.arithmetic_us(work, rates.library[kind], rates.library_share, used * splits)
    emitter, own = planned or (
        "",
        rates.arithmetic_us(work, rates.own[own_kind], SHARE_OF_A_PRODUCT, used),
    )
    library_us, own_us = (
        rates.launch_us + _HOST_US + max(library, memory),
        rates.launch_us + max(own, memory / 0.9),
    )
    return Costs(library_us, own_us, memory, library, own, emitter)


def with_preparation(costs: Costs, written: Sequence[int], rates: Rates) -> Costs:
    """Return the costs with kernels that write the library's operands first: bytes of each."""
    extra = sum([rates.launch_us + 2 * size / rates.bytes_per_us for size in written])
    return costs._replace(library_us=costs.library_us + extra)


def _fft(call: FftCall, rates: Rates) -> Costs:
    points = math.prod(call.lengths) * call.batch
    bytes_per_pass = (
        2
        * points
        * 2
        * _BYTES[call.real_type]
        * (0.5 if call.direction in ("RFFT", "IRFFT") else 1.0)
    )
    passes = sum([max(1, math.ceil(math.log2(max(n, 2)) / 11)) for n in call.lengths])
    scaling = 1 if call.direction in ("IFFT", "IRFFT") else 0
    library = (passes + scaling) * (rates.launch_us + bytes_per_pass / rates.bytes_per_us)
    own = 0.0
    for n in call.lengths:
        if n <= _ONE_PASS and n & (n - 1) == 0:
            own += rates.launch_us + bytes_per_pass / rates.bytes_per_us
        else:  # one sum for each point
            work = 4.0 * points * n
            own += rates.launch_us + rates.arithmetic_us(
                work, rates.own["f32" if call.real_type == "f32" else "f64"], SHARE_OF_A_PRODUCT
            )
    return Costs(library + _HOST_US, own)


def _solver(call: CholeskyCall | TriangularSolveCall, rates: Rates) -> Costs:
    order = call.n if isinstance(call, CholeskyCall) else call.order
    others = (
        call.n / 3
        if isinstance(call, CholeskyCall)
        else (call.columns if call.left_side else call.rows)
    )
    kind = "f64" if call.type in ("f64", "c128") else "f32"
    work = float(order) ** 2 * others * (4 if call.type.startswith("c") else 1)
    steps = -(-order // _PANEL)
    # The library runs once per matrix. A step is a panel, bound by latency, and a product, which
    # fills the device.
    panel_us = 5 * rates.launch_us
    used = others * order / (_TILE * _TILE * rates.multiprocessors)
    library = call.batch * (
        _HOST_US + steps * panel_us + rates.arithmetic_us(work, rates.library[kind], 0.5, used)
    )
    # Ours: one block, hence one multiprocessor, per matrix, and a barrier per column.
    waves = -(-call.batch // rates.multiprocessors)
    own = rates.launch_us + waves * (
        order * 0.5 + rates.arithmetic_us(work, rates.own[kind], 0.25, 1 / rates.multiprocessors)
    )
    return Costs(library, own)
