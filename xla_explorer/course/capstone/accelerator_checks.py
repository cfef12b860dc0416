"""Notebook 22: a backend for the tile machine, from one product to attention by `xe.compile`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xla_explorer.backends.registry import unregister
from xla_explorer.course.capstone.tile_backend import NAME, Load, register_tiles
from xla_explorer.course.capstone.tile_machine import SIDE, TILES, TileMachine, TileMachineError
from xla_explorer.course.checking.registry import (
    Cases,
    WrongAnswerError,
    answering,
    exercise,
    looking_at,
)
from xla_explorer.course.checking.result import Failure, value_text
from xla_explorer.explorer.compiling import compile
from xla_explorer.explorer.session import Session
from xla_explorer.explorer.sessions.compilation import CompileFailedError
from xla_explorer.hlo.builder import HloBuilder, HloValue
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import array_shape

Array = np.ndarray[Any, Any]
Product = Callable[[int, int, int, int, int, int], Any]
_NEAR = 1e-4
_SLOWEST = 1.5


def _ran(
    function: Product, rows: int, depth: int, columns: int
) -> tuple[TileMachine, Array, Array]:
    """Return the machine after an answer's product, the result and the expected result.

    WrongAnswerError if the machine stops.
    """
    machine, generator = TileMachine(), np.random.default_rng(rows * 100 + depth * 10 + columns)
    a, b, c = [
        machine.allocate(SIDE * n, SIDE * m)
        for n, m in ((rows, depth), (depth, columns), (rows, columns))
    ]
    values = [generator.integers(-3, 4, machine.memory[k].shape).astype(np.float32) for k in (a, b)]
    for array, value in zip((a, b), values, strict=True):
        machine.copy_in(array, value)
    machine.copy_in(c, np.full(machine.memory[c].shape, 7, np.float32))
    with answering():
        program = list(function(a, b, c, rows, depth, columns))
    try:
        machine.run(program)
    except TileMachineError as error:
        raise WrongAnswerError(
            Failure(
                "machine-stopped",
                "The machine stopped.",
                "a run to the end",
                str(error),
                None,
                (rows, depth, columns),
                f"Tiles are 0 to {TILES - 1}; a sum begins with ('fill', tile, 0.0).",
            )
        ) from error
    return machine, machine.copy_out(c), np.matmul(values[0], values[1])


@exercise(
    "nb22.product",
    "Write product(a, b, c, rows, depth, columns): instructions that put the product of the "
    "arrays a and b into c; sizes count tiles.",
    "One tile of c: fill it with 0, then for each k load a tile of a and one of b, and dot; "
    "store it at the end.",
    hints=(
        "Tile (i, j) of c is the sum over k of tile (i, k) of a times tile (k, j) of b.",
        "Three loops, i, j and k, with three tiles: one for the sum, one for a, one for b.",
    ),
)
def product(function: Product) -> Cases:
    """Check products of one tile, of lines of tiles, and with three different sides."""
    for sizes in ((1, 1, 1), (1, 3, 1), (2, 1, 3), (3, 2, 1), (2, 3, 4), (5, 4, 3), (7, 2, 5)):
        _, got, want = _ran(function, *sizes)
        yield (
            None
            if np.array_equal(got, want)
            else Failure(
                "wrong-value",
                f"a of {sizes[0]} x {sizes[1]} tiles, b of {sizes[1]} x {sizes[2]}.",
                value_text(want),
                value_text(got),
                None,
                sizes,
                "c held 7 before: fill the sum's tile with 0, and store every tile.",
            )
        )


@exercise(
    "nb22.fast",
    f"Write product again, at most {_SLOWEST} times as long as the matrix unit is busy, where "
    "the matrices are large.",
    "A dot takes 8 cycles and a load 12: with two loads for a dot, the matrix unit waits for two "
    "thirds of the time and more.",
    hints=(
        (
            "Compute several tiles of c at once: r rows and s columns of tiles need r + s loads "
            "for r * s dots."
        ),
        (
            f"r * s sums and r + s tiles that are read must fit into {TILES} tiles. 3 x 3 leaves "
            "one over."
        ),
        (
            "A load into a tile waits until the dots that read the tile are done: with a tile to "
            "spare, the next load can begin before."
        ),
        (
            "machine.steps has the start and the end of each instruction, machine.busy() the "
            "shares of the units."
        ),
    ),
)
def fast(function: Product) -> Cases:
    """Check the values, also with uneven groups of tiles, then the cycles.

    The cycles are the same on every machine.
    """
    for sizes in ((1, 1, 1), (4, 5, 7), (5, 2, 4), (2, 8, 1)):
        _, got, want = _ran(function, *sizes)
        yield (
            None
            if np.array_equal(got, want)
            else Failure(
                "wrong-value",
                "Groups of tiles at the edge are smaller.",
                value_text(want),
                value_text(got),
                None,
                sizes,
            )
        )
    ratios = []
    for sizes in ((12, 16, 12), (9, 24, 15)):
        machine, got, want = _ran(function, *sizes)
        least = 8 * sizes[0] * sizes[1] * sizes[2]
        ratios.append(machine.cycles / least)
        if not np.array_equal(got, want):
            yield Failure(
                "wrong-value",
                "A large product has another value.",
                value_text(want),
                value_text(got),
                None,
                sizes,
            )
        elif machine.cycles > _SLOWEST * least:
            loads = sum([step.unit == "dma" for step in machine.steps])
            yield Failure(
                "too-slow-product",
                f"{sizes[0]} x {sizes[1]} times {sizes[1]} x {sizes[2]} tiles.",
                f"at most {_SLOWEST * least:.0f} cycles",
                f"{machine.cycles}, with {loads} loads and stores; busy: {machine.busy()}",
                None,
                sizes,
                "Use each tile that was loaded for several products.",
            )
        else:
            yield None
    yield "the matrix unit's time, times " + " and ".join([f"{ratio:.2f}" for ratio in ratios])


def _matrix(b: HloBuilder, rows: int, columns: int, name: str) -> HloValue:
    return b.parameter(array_shape("f32", (rows, columns)), name)


def _wide(b: HloBuilder, value: HloValue | float, like: HloValue) -> HloValue:
    if isinstance(value, float):
        return b.broadcast(b.constant(value, like.dtype), like.shape.dimensions, ())
    return b.broadcast(value, like.shape.dimensions, (0,))


def tile_programs() -> list[HloModule]:
    """Return the programs that an accelerator must run, from simple ones to an attention.

    Each program adds one idea to those before it.
    """
    modules = []

    def program(name: str, build: Callable[[HloBuilder], HloValue]) -> None:
        b = HloBuilder(name, locations=False)
        modules.append(b.build(build(b)))

    program("only_a_parameter", lambda b: _matrix(b, 8, 16, "x"))
    program("difference", lambda b: b.subtract(_matrix(b, 16, 8, "x"), _matrix(b, 16, 8, "y")))

    def twice_used(b: HloBuilder) -> HloValue:
        x = _matrix(b, 8, 24, "x")
        e = b.exponential(x)
        return b.divide(e, b.add(e, _wide(b, 2.0, e)))

    program("twice_used", twice_used)

    def product(b: HloBuilder) -> HloValue:
        return b.dot(
            _matrix(b, 16, 24, "x"),
            _matrix(b, 24, 8, "y"),
            lhs_contracting_dims=(1,),
            rhs_contracting_dims=(0,),
        )

    def rows_by_rows(b: HloBuilder) -> HloValue:
        return b.dot(
            _matrix(b, 16, 24, "x"),
            _matrix(b, 8, 24, "y"),
            lhs_contracting_dims=(1,),
            rhs_contracting_dims=(1,),
        )

    program("product", product)
    program("rows_by_rows", rows_by_rows)

    def centred(b: HloBuilder) -> HloValue:
        x = _matrix(b, 16, 24, "x")
        return b.subtract(x, _wide(b, x.max(axis=1), x))

    program("centred", centred)

    def layer(b: HloBuilder) -> HloValue:
        x, w = _matrix(b, 24, 16, "x"), _matrix(b, 16, 32, "w")
        y = b.dot(x, w, lhs_contracting_dims=(1,), rhs_contracting_dims=(0,))
        return b.maximum(b.tanh(b.multiply(y, _wide(b, 0.5, y))), b.negate(y))

    program("layer", layer)

    def attention(b: HloBuilder) -> HloValue:
        q, k, v = _matrix(b, 24, 16, "q"), _matrix(b, 32, 16, "k"), _matrix(b, 32, 16, "v")
        scores = b.dot(q, k, lhs_contracting_dims=(1,), rhs_contracting_dims=(1,))
        scores = b.multiply(scores, _wide(b, 0.25, scores))
        weights = b.exponential(b.subtract(scores, _wide(b, scores.max(axis=1), scores)))
        weights = b.divide(weights, _wide(b, weights.sum(axis=1), weights))
        return b.dot(weights, v, lhs_contracting_dims=(1,), rhs_contracting_dims=(0,))

    program("attention", attention)
    return modules


def _given(module: HloModule, seed: int = 0) -> list[Array]:
    generator = np.random.default_rng(seed)
    return [
        generator.standard_normal(p.shape.dimensions).astype(np.float32)
        for p in module.entry.parameters()
    ]


@exercise(
    "nb22.compile",
    "Write compile_for(computation, arrays, result, new_array): instructions for a whole program.",
    "Begin with the program that is one parameter: load each of its tiles and store it into the "
    "result.",
    hints=(
        (
            "Visit computation.post_order(); each instruction that is an array gets an array of "
            "its own from new_array(rows, columns)."
        ),
        (
            "A reduce over the columns is a vector: keep it as an array of rows x 8 whose "
            "columns are equal, as `add-rows` leaves a tile."
        ),
        (
            "A row of several tiles: combine the tiles with add or maximum first, then reduce "
            "the one that is left."
        ),
        "rhs_contracting_dims={1} needs tile (j, k) of the right side, transposed.",
        (
            "A broadcast of a scalar constant is a `fill` where it is read, a broadcast of a "
            "vector the same tile for all columns."
        ),
    ),
)
def compile_for(function: Callable[..., Any]) -> Cases:
    """Check the values of eight programs.

    Each instruction must be computed once, and parameters must stay unchanged.
    """
    for module in tile_programs():
        arguments = _given(module)
        machine = TileMachine()
        arrays = [machine.allocate(*a.shape) for a in arguments]
        result = machine.allocate(*module.result_shape().dimensions)
        for array, value in zip(arrays, arguments, strict=True):
            machine.copy_in(array, value)
        with looking_at(module):
            program = list(function(module.entry, list(arrays), result, machine.allocate))
        try:
            machine.run(program)
            got = machine.copy_out(result)
        except TileMachineError as error:
            yield Failure(
                "machine-stopped", "The machine stopped.", "a run to the end", str(error), module
            )
        want = np.asarray(evaluate(module, *arguments))
        if not np.allclose(got, want, _NEAR, _NEAR):
            yield Failure(
                "wrong-value",
                f"{module.name}: the machine computes something else.",
                value_text(want),
                value_text(got),
                module,
                tuple(arguments),
                "Run your instructions by hand: machine.run(program), and look at the arrays.",
            )
        spoilt = next(
            (
                k
                for k, (array, value) in enumerate(zip(arrays, arguments, strict=True))
                if array not in machine.memory or not np.array_equal(machine.memory[array], value)
            ),
            None,
        )
        if spoilt is not None:
            yield Failure(
                "input-overwritten",
                f"After the run the array of parameter {spoilt} holds something else.",
                value_text(arguments[spoilt]),
                value_text(machine.memory[arrays[spoilt]])
                if arrays[spoilt] in machine.memory
                else "no array",
                module,
                hint="Weights stay on the device from run to run.",
            )
        dots = sum([step.instruction[0] == "dot" for step in machine.steps])
        if dots > (most := _dots(module)):
            yield Failure(
                "computed-twice",
                f"{module.name}: {dots} products of tiles.",
                f"at most {most}",
                str(dots),
                module,
                hint="Keep each result in an array, and load it from there for each user.",
            )
        yield None


def _dots(module: HloModule) -> int:
    found = [i for i in module.entry.instructions.values() if i.opcode.name == "dot"]
    return sum(
        [i.shape.element_count * int(i.operands[0].shape.dimensions[1]) // SIDE**3 for i in found]
    )


@exercise(
    "nb22.backend",
    "Write load(module, machine): a function that runs the module on a list of arrays, as "
    "xe.compile(..., backend='tiles') needs it.",
    "Allocate, compile and keep the program when the module is loaded; in each run copy the "
    "arguments in, run, copy the result out.",
    hints=(
        (
            "An array whose size is not a multiple of 8: the machine refuses it when it is "
            "allocated; let the error through."
        ),
        "Arrays are allocated once, when the module is loaded: a server runs for months.",
        "Two programs on one machine must not share arrays: keep the numbers in variables of load.",
    ),
)
def backend(function: Load) -> Cases:
    """Check all programs through xe.compile, run in turns.

    The memory must not grow, the profile must count cycles, and other sizes must be refused.
    """
    machine = register_tiles(function)
    try:
        sessions = [_loaded(module) for module in tile_programs()[1:]]
        in_use = len(machine.memory)
        for turn in range(2):
            for session in sessions:
                module = session.source
                arguments = _given(module, turn)
                want, got = (
                    np.asarray(evaluate(module, *arguments)),
                    np.asarray(session(*arguments)),
                )
                if got.shape != want.shape or got.dtype.kind != "f":
                    yield Failure("no-result", f"{module.name}: a run must return the result's array.", f"{want.dtype} {list(want.shape)}",
                                  f"{got.dtype} {list(got.shape)}", module, hint="machine.copy_out(result) returns it.")  # fmt: skip
                if not np.allclose(got, want, _NEAR, _NEAR):
                    yield Failure(
                        "wrong-value",
                        f"{module.name}, turn {turn + 1}: another value.",
                        value_text(want),
                        value_text(got),
                        module,
                        tuple(arguments),
                        "All programs are loaded on one machine, and run alternately.",
                    )
                yield None
        if len(machine.memory) > in_use:
            yield Failure(
                "memory-lost",
                "Runs leave arrays on the machine.",
                f"{in_use} arrays",
                f"{len(machine.memory)} arrays",
                hint="Allocate when the module is loaded, or free the memory of a run after it.",
            )
        before, copies = machine.cycles, machine.copies_out
        sessions[-1](*_given(sessions[-1].source))
        if machine.cycles == before or machine.copies_out != copies + 1:
            yield Failure(
                "not-on-the-machine",
                "A run must use the machine, and copy the result out once.",
                "cycles, and one copy",
                f"{machine.cycles - before} cycles, {machine.copies_out - copies} copies",
            )
        yield None
        yield _refuses_other_sizes()
    finally:
        unregister(NAME)


def _loaded(module: HloModule) -> Session:
    try:
        return compile(module, backend=NAME, isolate=False)
    except CompileFailedError as error:
        raise error.__cause__ or error from None


def _refuses_other_sizes() -> Failure | None:
    b = HloBuilder("odd", locations=False)
    module = b.build(b.negate(_matrix(b, 5, 8, "x")))
    try:
        _loaded(module)
    except TileMachineError:
        return None
    return Failure(
        "accepted-too-much",
        "5 rows fill no whole tiles.",
        "TileMachineError when the module is loaded",
        "a session",
        module,
    )


def cycles_of(function: Product, rows: int, depth: int, columns: int) -> TileMachine:
    """Return the machine after a product of these numbers of tiles: its cycles, steps and shares.

    The arrays hold small whole numbers.

    Examples
    --------
    >>> from xla_explorer.course.capstone.accelerator_checks import cycles_of
    >>> loads = [("fill", 0, 0.0), ("load", 1, 0, 0, 0), ("load", 2, 1, 0, 0)]
    >>> def one(a, b, c, *sizes):
    ...     return [*loads, ("dot", 0, 1, 2), ("store", c, 0, 0, 0)]
    >>> cycles_of(one, 1, 1, 1).cycles
    44
    """
    return _ran(function, rows, depth, columns)[0]
