"""HLO programs bound by memory or tensor cores at any size, with least bytes and operations."""

from __future__ import annotations

from typing import NamedTuple

_SUM = "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"
_MAX = "largest { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] maximum(a, b) }\n"


class Program(NamedTuple):
    """shapes: of the arguments (f32, or bf16 for matrices).

    bytes: inputs and results once. flops: 0 where memory decides.
    """

    name: str
    text: str
    shapes: tuple[tuple[int, ...], ...]
    dtype: str
    bytes: int
    flops: int


def memory_bound(elements: int, row: int = 4096) -> list[Program]:
    """Return elementwise, softmax, layer norm, reduction and transpose programs of this size.

    There are four reductions and two transposes; size counts elements.
    """
    n, m = max(elements // row, 1), row
    matrix, vector = f"f32[{n},{m}]", f"f32[{n}]"

    def program(
        name: str, helpers: str, body: str, result: int, more: tuple[tuple[int, ...], ...] = ()
    ) -> Program:
        text = f"HloModule {name}\n{helpers}ENTRY e {{\n  x = {matrix} parameter(0)\n{body}}}\n"
        read = 4 * (n * m + sum([s[0] for s in more]))
        return Program(name, text, ((n, m), *more), "f32", read + 4 * result, 0)

    rows = f"""  zero = f32[] constant(0)
  s = {vector} reduce(x, zero), dimensions={{1}}, to_apply=sum
"""
    mean = f"""  count = f32[] constant({m})
  counts = {vector} broadcast(count), dimensions={{}}
"""
    return [
        program(
            "elementwise_chain",
            "",
            f"""  a = {matrix} multiply(x, x)
  b = {matrix} add(a, x)
  c = {matrix} negate(b)
  d = {matrix} maximum(c, x)
  ROOT r = {matrix} subtract(d, a)
""",
            n * m,
        ),
        program(
            "softmax",
            _SUM + _MAX,
            f"""  lowest = f32[] constant(-inf)
  zero = f32[] constant(0)
  top = {vector} reduce(x, lowest), dimensions={{1}}, to_apply=largest
  tops = {matrix} broadcast(top), dimensions={{0}}
  d = {matrix} subtract(x, tops)
  w = {matrix} exponential(d)
  s = {vector} reduce(w, zero), dimensions={{1}}, to_apply=sum
  ss = {matrix} broadcast(s), dimensions={{0}}
  ROOT r = {matrix} divide(w, ss)
""",
            n * m,
        ),
        program(
            "layernorm",
            _SUM,
            f"""  gain = f32[{m}] parameter(1)
  shift = f32[{m}] parameter(2)
{rows}{mean}  mu = {vector} divide(s, counts)
  mus = {matrix} broadcast(mu), dimensions={{0}}
  c = {matrix} subtract(x, mus)
  q = {matrix} multiply(c, c)
  v = {vector} reduce(q, zero), dimensions={{1}}, to_apply=sum
  var = {vector} divide(v, counts)
  small = f32[] constant(1e-5)
  smalls = {vector} broadcast(small), dimensions={{}}
  safe = {vector} add(var, smalls)
  scale = {vector} rsqrt(safe)
  scales = {matrix} broadcast(scale), dimensions={{0}}
  y = {matrix} multiply(c, scales)
  gains = {matrix} broadcast(gain), dimensions={{1}}
  z = {matrix} multiply(y, gains)
  shifts = {matrix} broadcast(shift), dimensions={{1}}
  ROOT r = {matrix} add(z, shifts)
""",
            n * m,
            ((m,), (m,)),
        ),
        program("reduce_rows", _SUM, rows.replace("  s =", "  ROOT s ="), n),
        program(
            "reduce_columns",
            _SUM,
            f"  zero = f32[] constant(0)\n  ROOT s = f32[{m}] reduce(x, zero), dimensions={{0}}, to_apply=sum\n",
            m,
        ),
        program("reduce_all", _SUM, "  zero = f32[] constant(0)\n  ROOT s = f32[] reduce(x, zero), dimensions={0,1}, to_apply=sum\n", 1),
        program("transpose", "", f"  ROOT r = f32[{m},{n}] transpose(x), dimensions={{1,0}}\n", n * m),
        Program(
            "transpose_bf16",
            f"HloModule transpose_bf16\nENTRY e {{\n  x = bf16[{n},{m}] parameter(0)\n"
            f"  ROOT r = bf16[{m},{n}] transpose(x), dimensions={{1,0}}\n}}\n",
            ((n, m),), "bf16", 4 * n * m, 0,
        ),
        program(
            "row_moments", _SUM,
            f"""{rows}  q = {matrix} multiply(x, x)
  t = {vector} reduce(q, zero), dimensions={{1}}, to_apply=sum
  ROOT r = ({vector}, {vector}) tuple(s, t)
""",
            2 * n,
        ),
    ]  # fmt: skip


def matrix_product(size: int) -> Program:
    """Return a bf16 product of square matrices."""
    kind = f"bf16[{size},{size}]"
    text = f"""HloModule matmul
ENTRY e {{
  a = {kind} parameter(0)
  b = {kind} parameter(1)
  ROOT c = {kind} dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}
"""
    return Program(
        "matmul_bf16", text, ((size, size), (size, size)), "bf16", 6 * size * size, 2 * size**3
    )
