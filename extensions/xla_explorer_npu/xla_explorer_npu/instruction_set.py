"""The instruction set: names, operands, units.

One row per mnemonic; assembler, encoder, simulator and timing read these rows.

An instruction is `unit.operation.type` with named operands. Operands are addresses, integers,
vectors of integers, symbols or a label. Addresses: `d[r2+64]` device memory at base register 2 (set
by the launch) plus 64; `d[r2+64+i0]` plus index register 0 (set by `ctl.index`); `s[128]`
scratchpad; `a[0]` accumulators. Offsets are bytes, steps are elements, sizes count elements.
"""

from __future__ import annotations

from typing import Any, NamedTuple

NO_INDEX = 255
SPACES = "dsa"


class Address(NamedTuple):
    """space: one of SPACES. base: base register (device memory only).

    offset: bytes. register: index register, or NO_INDEX.
    """

    space: str
    offset: int
    base: int = 0
    register: int = NO_INDEX

    def __str__(self) -> str:
        inside = f"r{self.base}+{self.offset}" if self.space == "d" else str(self.offset)
        return f"{self.space}[{inside}{f'+i{self.register}' if self.register != NO_INDEX else ''}]"


class Instruction(NamedTuple):
    """operation: a key of OPERATIONS. element_type: HLO name, or empty.

    operands: in the order of the row. origin: HLO instruction id.
    """

    operation: str
    element_type: str
    operands: tuple[Any, ...]
    origin: int | None = None


class Operation(NamedTuple):
    """unit: `dma`, `vec`, `mat` or `ctl`.

    operands: (name, kind) with kind `address`, `int`, `ints`, `symbol`, `label`. cycles: of the
    vector unit for a full set of lanes.
    """

    unit: str
    operands: tuple[tuple[str, str], ...]
    cycles: int = 1


_TO_A = (("to", "address"), ("a", "address"))
_TO_AB = (*_TO_A, ("b", "address"))
_N = (("n", "int"),)

# Vector operations with one operand, and cycles for a full set of lanes: those of a polynomial of
# that length.
UNARY = {
    "abs": 1, "negate": 1, "sign": 1, "not": 1, "ceil": 1, "floor": 1, "round-nearest-afz": 1, "round-nearest-even": 1, "is-finite": 1,
    "popcnt": 2, "count-leading-zeros": 2, "sqrt": 8, "rsqrt": 6, "cbrt": 10, "exponential": 8, "exponential-minus-one": 10, "log": 8,
    "log-plus-one": 10, "logistic": 12, "tanh": 10, "sine": 12, "cosine": 12, "tan": 16, "erf": 14, "copy": 1,
}  # fmt: skip
BINARY = {
    "add": 1, "subtract": 1, "multiply": 1, "divide": 6, "remainder": 8, "maximum": 1, "minimum": 1, "power": 18, "atan2": 18, "and": 1,
    "or": 1, "xor": 1, "shift-left": 1, "shift-right-arithmetic": 1, "shift-right-logical": 1,
}  # fmt: skip
REDUCTIONS = ("add", "multiply", "maximum", "minimum", "and", "or", "xor")

OPERATIONS: dict[str, Operation] = {
    "dma.copy": Operation(
        "dma",
        (
            ("to", "address"),
            ("from", "address"),
            ("size", "ints"),
            ("to_step", "ints"),
            ("from_step", "ints"),
            ("queue", "int"),
        ),
    ),
    "dma.fill": Operation(
        "dma",
        (
            ("to", "address"),
            ("size", "ints"),
            ("to_step", "ints"),
            ("bits", "int"),
            ("queue", "int"),
        ),
    ),
    **{f"vec.{name}": Operation("vec", (*_TO_A, *_N), cycles) for name, cycles in UNARY.items()},
    **{f"vec.{name}": Operation("vec", (*_TO_AB, *_N), cycles) for name, cycles in BINARY.items()},
    "vec.compare": Operation("vec", (*_TO_AB, *_N, ("kind", "symbol"))),
    "vec.select": Operation("vec", (*_TO_AB, ("c", "address"), *_N)),
    "vec.clamp": Operation("vec", (*_TO_AB, ("c", "address"), *_N), 2),
    "vec.convert": Operation("vec", (*_TO_A, *_N, ("source", "symbol"))),
    "vec.bits": Operation("vec", (*_TO_A, *_N, ("source", "symbol"))),
    "vec.fill": Operation("vec", (("to", "address"), ("bits", "int"), *_N)),
    "vec.iota": Operation(
        "vec", (("to", "address"), ("size", "ints"), ("axis", "int"), ("start", "int"))
    ),
    # to[r] = to[r] combined with a[r, 0 .. n)
    **{
        f"vec.reduce-{name}": Operation("vec", (*_TO_A, ("rows", "int"), *_N))
        for name in REDUCTIONS
    },
    # to[k] = to[k] combined with a[0 .. rows, k]: a row after the other through all lanes
    **{
        f"vec.accumulate-{name}": Operation("vec", (*_TO_A, ("rows", "int"), *_N))
        for name in REDUCTIONS
    },
    # acc[m, n] (+)= lhs[m, k] rhs[k, n], all row-major and dense; transposed: 1 when lhs comes as
    # [k, m], 2 when rhs comes as [n, k]
    "mat.multiply": Operation(
        "mat",
        (
            ("acc", "address"),
            ("lhs", "address"),
            ("rhs", "address"),
            ("m", "int"),
            ("k", "int"),
            ("n", "int"),
            ("transposed", "int"),
            ("clear", "int"),
        ),
    ),
    "mat.store": Operation("vec", (("to", "address"), ("acc", "address"), *_N)),
    # i[reg] = (clear ? 0 : i[reg]) + step * clamp(load(from), 0, limit)
    "ctl.index": Operation(
        "ctl",
        (("reg", "int"), ("from", "address"), ("limit", "int"), ("step", "int"), ("clear", "int")),
    ),
    "ctl.jump": Operation("ctl", (("target", "label"),)),
    "ctl.branch-unless-equal": Operation(
        "ctl", (("from", "address"), ("value", "int"), ("target", "label"))
    ),
    "ctl.halt": Operation("ctl", ()),
}
OPERATION_NAMES = tuple(OPERATIONS)
TYPES = ("", "pred", "s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32")
SYMBOLS = (*TYPES, "EQ", "NE", "LT", "LE", "GT", "GE")
