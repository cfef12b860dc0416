"""Rules for well-known slow forms of JAX programs.

Each remedy was timed on XLA:CPU: tests/hunt/test_advice_cases.py has the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Final

from xla_explorer.explorer.advice.rules import (
    NOTABLE,
    Advice,
    Facts,
    KernelFact,
    longest_line,
)
from xla_explorer.explorer.sessions.source_lines import SourceLines
from xla_explorer.hlo.analysis.running_windows import scan_dimension
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.metadata import parse_metadata
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text.module_header import parse_input_output_alias

_SAME_VALUES: Final = frozenset({"bitcast", "reshape", "copy", "convert", "broadcast"})
_DENSE_EXPERTS: Final = 16
"""Up to this many stacked weights, a product with all is cheaper than one copy per row."""
_FEW: Final = 8
"""The least ratio of sorted to read elements of a wasteful sort."""


def kernel_instructions(i: HloInstruction) -> Iterable[HloInstruction]:
    """Return the instructions that a kernel computes."""
    return i.called[0].instructions.values() if i.opcode.name == "fusion" else (i,)


def of_kernels(
    facts: Facts, slow: Callable[[HloInstruction], bool], seen: str, change: str
) -> Advice | None:
    """Return advice on the kernels with an instruction of a slow form; None if they are fast."""
    found = [
        (kernel, part)
        for kernel in facts.kernels
        if (part := next(filter(slow, kernel_instructions(kernel.instruction)), None)) is not None
    ]
    advice = advice_on(facts, [kernel for kernel, _ in found], seen, change)
    if advice is None:
        return None
    _, part = max(found, key=lambda pair: pair[0].us)
    place = SourceLines(part.parent.module).metadata_place(part.metadata)
    return advice._replace(line=place or advice.line)


def advice_on(
    facts: Facts, kernels: Sequence[KernelFact], seen: str, change: str, gain: float | None = None
) -> Advice | None:
    """Return advice on kernels at their longest line; None if they are fast."""
    us = sum(kernel.us for kernel in kernels)
    gain = us if gain is None else gain
    if gain < NOTABLE * facts.run_us or not kernels:
        return None
    return Advice(gain, f"{seen} take {us:.0f} us of a run: {change}", longest_line(kernels))


def donate_arguments(facts: Facts) -> Advice | None:
    """Advise to donate arguments that are copied and then overwritten by a result."""
    copies = [
        (kernel, p)
        for kernel in facts.kernels
        if (p := copied_argument(kernel.instruction)) is not None
    ]
    names = dict.fromkeys(argument_name(parameter) for _, parameter in copies)
    donated = ", ".join([repr(name) for name in names])
    change = (
        f"a result is written over each copy, since the caller keeps the argument. Donate {donated}: "
        f"jax.jit(f, donate_argnames=({donated},)), or by place with donate_argnums, and use the result in its place afterwards"
    )
    found = [kernel for kernel, _ in copies]
    advice = advice_on(facts, found, f"copies of arguments ({donated})", change)
    if advice is None:
        return None
    copy = max(found, key=lambda kernel: kernel.us).instruction
    lines = SourceLines(copy.parent.module)
    places = [lines.metadata_place(user.metadata) for user in copy.users]
    line = next(filter(None, places), advice.line)
    return advice._replace(line=line, form="donated")


def copied_argument(i: HloInstruction) -> HloInstruction | None:
    """Return the argument that a kernel copies unchanged, if donating it would save the copy.

    It is not donated, and a result has its shape.
    """
    if (
        any(j.opcode.name not in ("copy", "parameter") for j in kernel_instructions(i))
        or len(i.operands) != 1
    ):
        return None
    argument, module = i.operands[0], i.parent.module
    if (
        argument.opcode.name != "parameter"
        or argument.parent is not module.entry
        or argument.shape != i.shape
    ):
        return None
    return argument if argument in undonated_arguments(module) else None


def undonated_arguments(module: HloModule) -> list[HloInstruction]:
    """Return arguments that a result of the same shape could overwrite if they were donated."""
    aliases = parse_input_output_alias(str(module.attributes.get("input_output_alias") or "{}"))
    taken, results = (
        {one.parameter_number for one in aliases},
        [leaf for _, leaf in module.entry.root.shape.leaves()],
    )
    parameters = list(module.entry.parameters())
    for number in taken:
        if number < len(parameters) and parameters[number].shape in results:
            results.remove(parameters[number].shape)
    found = []
    for number, parameter in enumerate(parameters):
        if number not in taken and parameter.shape in results:
            results.remove(parameter.shape)
            found.append(parameter)
    return found


def argument_name(parameter: HloInstruction) -> str:
    """Return the name of the function's argument that contains a parameter."""
    name = parse_metadata(parameter.metadata).op_name or parameter.name
    return name.partition("[")[0].partition(".")[0]


def channels_last(facts: Facts) -> Advice | None:
    """Advise against transposes before and after convolutions."""

    def moves(i: HloInstruction) -> bool:
        kinds = {part.opcode.name for part in kernel_instructions(i)} - {
            "parameter",
            "bitcast",
            "reshape",
        }
        near = [*i.operands, *i.users]
        return (
            bool(kinds)
            and kinds <= {"copy", "transpose"}
            and any(
                part.opcode.name == "convolution" for j in near for part in kernel_instructions(j)
            )
        )

    change = 'store images and weights with channels last: conv_general_dilated(..., dimension_numbers=("NHWC", "HWIO", "NHWC"))'
    return advice_on(
        facts,
        [k for k in facts.kernels if moves(k.instruction)],
        "transposes around convolutions",
        change,
    )


def index_major(facts: Facts) -> Advice | None:
    """Advise against scatters and gathers by an index into the minor dimension.

    Each row is strewn over memory.
    """

    def strewn(i: HloInstruction) -> bool:
        if i.opcode.name not in ("scatter", "gather"):
            return False
        array = i.operands[0].shape
        if i.opcode.name == "scatter":
            indexed = i.attribute("scatter_dims_to_operand_dims")
            count = len(i.operands) // 2
            row = (
                prod(i.operands[-1].shape.dimensions[d] for d in i.attribute("update_window_dims"))
                if count == 1
                else 1
            )
        else:
            indexed, row = i.attribute("start_index_map"), prod(i.attribute("slice_sizes"))
        minor = (
            array.layout.minor_to_major[0]
            if array.is_array and array.layout is not None and array.rank > 1
            else None
        )
        return row > 1 and tuple(indexed) == (minor,)

    change = "keep the indexed dimension first and the features last, x.at[i].add(u) and x[i] with x of [n, features]"
    seen = "scatters and gathers by the last dimension, whose rows are strewn over memory,"
    advice = of_kernels(facts, strewn, seen, change)
    return advice and advice._replace(form="rows-first")


def weights_per_row(facts: Facts) -> Advice | None:
    """Advise against a gather of a matrix for each row of a product."""

    def copies(i: HloInstruction) -> bool:
        if i.opcode.name != "gather" or i.shape.byte_size < 4 * i.operands[0].shape.byte_size:
            return False
        return sum(
            size > 1 for size in i.attribute("slice_sizes")
        ) >= 2 and _feeds_a_batched_product(i)

    gathers = [
        (kernel, i)
        for kernel in facts.kernels
        for i in kernel_instructions(kernel.instruction)
        if copies(i)
    ]
    found = list(dict.fromkeys(kernel for kernel, _ in gathers))
    experts = max([i.operands[0].shape.dimensions[0] for _, i in gathers], default=0)
    dense = 'multiply by all and select: jnp.einsum("te,td,edf->tf", jax.nn.one_hot(e, len(w)), x, w), or '
    change = (
        dense if experts <= _DENSE_EXPERTS else ""
    ) + "sort the rows by their index and use jax.lax.ragged_dot"
    seen = f"copies of a weight for each row of a product (w[e], {experts} weights)"
    advice = advice_on(facts, found, seen, change)
    is_dense = advice is not None and experts <= _DENSE_EXPERTS
    return advice._replace(form="dense-experts") if advice is not None and is_dense else advice


def _feeds_a_batched_product(gather: HloInstruction) -> bool:
    fusion = fusion_around(gather)
    pending, seen = [*gather.users, *(fusion.users if fusion is not None else ())], set()
    while pending:
        user = pending.pop()
        if user in seen:
            continue
        seen.add(user)
        if any(
            part.opcode.name == "dot" and part.attribute("lhs_batch_dims")
            for part in kernel_instructions(user)
        ):
            return True
        if user.opcode.name in _SAME_VALUES:
            pending += user.users
    return False


def fusion_around(i: HloInstruction) -> HloInstruction | None:
    """Return the fusion of an instruction."""
    every = i.parent.module.instructions()
    return next(
        (
            kernel
            for kernel in every
            if kernel.opcode.name == "fusion" and kernel.called[0] is i.parent
        ),
        None,
    )


def take_rows(facts: Facts) -> Advice | None:
    """Advise against products with a matrix of ones and zeros that selects rows."""
    made: set[HloInstruction] = set()

    def selects(i: HloInstruction) -> bool:
        for side, key in (
            enumerate(("lhs_contracting_dims", "rhs_contracting_dims"))
            if i.opcode.name == "dot"
            else ()
        ):
            one = i.operands[side]
            if one.opcode.name == "parameter" and (fusion := fusion_around(i)) is not None:
                one = fusion.operands[one.parameter_number]
            maker = one
            if one.opcode.name == "fusion":
                one = one.called[0].root
            while one.opcode.name in ("convert", "bitcast", "copy"):
                one = one.operands[0]
            if one.opcode.name != "compare" or one.attribute("direction") != "EQ":
                continue
            counted = [
                o.attribute("iota_dimension") for o in one.operands if o.opcode.name == "iota"
            ]
            if counted and tuple(i.attribute(key)) == (counted[0],):
                made.add(maker)
                return True
        return False

    found = [
        kernel
        for kernel in facts.kernels
        if any(map(selects, list(kernel_instructions(kernel.instruction))))
    ]
    found += [
        kernel for kernel in facts.kernels if kernel.instruction in made and kernel not in found
    ]
    change = "take the rows by index: jax.nn.one_hot(i, n) @ W is W[i] (jnp.take(W, i, axis=0))"
    return advice_on(facts, found, "products with a one-hot matrix", change)


def distances_by_product(facts: Facts) -> Advice | None:
    """Advise to compute squared differences of all pairs by a product."""

    def pairs(i: HloInstruction) -> bool:
        if (
            i.opcode.name != "reduce"
            or len(i.operands) != 2
            or i.to_apply.root.opcode.name != "add"
        ):
            return False
        square = i.operands[0]
        if (
            square.opcode.name != "multiply"
            or square.operands[0] is not square.operands[1]
            or square.operands[0].opcode.name != "subtract"
        ):
            return False
        one, other = square.operands[0].operands
        if one.opcode.name != "broadcast" or other.opcode.name != "broadcast":
            return False
        here, there, summed = (
            set(one.attribute("dimensions")),
            set(other.attribute("dimensions")),
            set(i.attribute("dimensions")),
        )
        return bool(here - there) and bool(there - here) and summed <= here & there

    product = "|x - y|^2 = (x*x).sum(-1)[:, None] + (y*y).sum(-1) - 2 * x @ y.T"
    change = f"use a product, {product} (less exact for near points: jnp.maximum(.., 0))"
    return of_kernels(facts, pairs, "squared differences of all pairs", change)


def scan_by_doubling(facts: Facts) -> Advice | None:
    """Advise to write running sums as associative scans instead of windows over a dimension."""

    def running(i: HloInstruction) -> bool:
        if i.opcode.name != "reduce-window":
            return False
        rules, base = i.attribute("window").dimensions, i.operands[0].shape.dimensions
        exclusive = any(
            w.size == n == w.padding_low > 1 for w, n in zip(rules, base, strict=True)
        )  # so XLA sums its partial sums
        return exclusive or scan_dimension(rules, base) is not None

    change = (
        "XLA:CPU sums each window anew; there jax.lax.associative_scan(jnp.add, x, axis=...) takes "
        "fewer steps (jnp.cumsum becomes such windows, too)"
    )
    return of_kernels(facts, running, "running sums by windows over a whole dimension", change)


def select_few(facts: Facts) -> Advice | None:
    """Advise to use top_k instead of sorts whose results are mostly unread."""

    def few(i: HloInstruction) -> bool:
        if i.opcode.name != "sort" or len(i.operands) > 2:
            return False
        values = [user for user in i.users if user.opcode.name == "get-tuple-element"] or [i]
        readers = [user for value in values for user in value.users]
        read = sum(user.shape.byte_size for user in readers)
        sliced = all(
            any(part.opcode.name == "slice" for part in kernel_instructions(user))
            for user in readers
        )
        return (
            bool(readers)
            and sliced
            and not any(v.is_root for v in values)
            and _FEW * read <= i.operands[0].shape.byte_size
        )

    change = "jax.lax.top_k(x, k) finds the largest without sorting the rest"
    return of_kernels(facts, few, "sorts whose readers use few elements", change)


SLOW_FORMS: Final = (
    donate_arguments, channels_last, index_major, weights_per_row, take_rows, distances_by_product, scan_by_doubling, select_few,
)  # fmt: skip
