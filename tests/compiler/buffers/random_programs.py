"""Random scheduled programs: elementwise, reductions, in-place updates, loops, branches.

Loops permute, repeat and keep their state.
"""

from __future__ import annotations

import random

_HEADER = """HloModule random

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
"""


class ProgramWriter:
    """Writes one random module as text; the same seed gives the same text."""

    def __init__(self, seed: int, size: int = 12, depth: int = 2) -> None:
        self.random = random.Random(seed)
        self.computations: list[str] = []
        self.count = 0
        self.size, self.depth = size, depth

    def name(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def text(self) -> str:
        """Return the module."""
        matrices = [f"p{k}" for k in range(3)]
        lines = [f"  {p} = f32[4,8] parameter({k})" for k, p in enumerate(matrices)] + [
            "  n = s32[] parameter(3)"
        ]
        values = self.body(lines, list(matrices), "n", self.depth)
        outputs = [self.random.choice(values) for _ in range(self.random.randint(1, 3))]
        if len(outputs) > 1 or self.random.random() < 0.5:
            lines.append(
                f"  ROOT r = ({', '.join(['f32[4,8]'] * len(outputs))}) tuple({', '.join(outputs)})"
            )
        else:
            lines.append(f"  ROOT r = f32[4,8] negate({outputs[0]})")
        return (
            _HEADER + "\n".join(self.computations) + "\nENTRY main {\n" + "\n".join(lines) + "\n}\n"
        )

    def body(self, lines: list[str], values: list[str], index: str, depth: int) -> list[str]:
        """Append random instructions; values are f32[4,8], index an s32[]."""
        for _ in range(self.random.randint(2, self.size)):
            kinds = [
                "unary",
                "unary",
                "binary",
                "binary",
                "binary",
                "row",
                "column",
                "transpose",
                "update",
                "update",
                "slice",
                "iota",
            ]
            if depth:
                kinds += ["while", "while", "conditional"]
            values.append(
                getattr(self, "_" + self.random.choice(kinds))(lines, values, index, depth)
            )
        return values

    def _pick(self, values: list[str]) -> str:
        return self.random.choice(values[-5:] + values)

    def _unary(self, lines: list[str], values: list[str], index: str, depth: int) -> str:
        v = self.name()
        lines.append(
            f"  {v} = f32[4,8] {self.random.choice(['negate', 'tanh', 'abs', 'cosine'])}({self._pick(values)})"
        )
        return v

    def _binary(self, lines: list[str], values: list[str], index: str, depth: int) -> str:
        v = self.name()
        lines.append(
            f"  {v} = f32[4,8] {self.random.choice(['add', 'subtract', 'maximum', 'minimum'])}({self._pick(values)}, {self._pick(values)})"
        )
        return v

    def _row(self, lines: list[str], values: list[str], index: str, depth: int) -> str:
        z, r, v = self.name(), self.name(), self.name()
        lines += [
            f"  {z} = f32[] constant(0)",
            f"  {r} = f32[4] reduce({self._pick(values)}, {z}), dimensions={{1}}, to_apply=sum",
            f"  {v} = f32[4,8] broadcast({r}), dimensions={{0}}",
        ]
        w = self.name()
        lines.append(f"  {w} = f32[4,8] tanh({v})")
        return w

    def _column(self, lines: list[str], values: list[str], index: str, depth: int) -> str:
        z, r, v = self.name(), self.name(), self.name()
        lines += [
            f"  {z} = f32[] constant(0)",
            f"  {r} = f32[8] reduce({self._pick(values)}, {z}), dimensions={{0}}, to_apply=sum",
            f"  {v} = f32[4,8] broadcast({r}), dimensions={{1}}",
        ]
        w = self.name()
        lines.append(f"  {w} = f32[4,8] cosine({v})")
        return w

    def _transpose(self, lines: list[str], values: list[str], index: str, depth: int) -> str:
        t, v = self.name(), self.name()
        lines += [
            f"  {t} = f32[8,4] transpose({self._pick(values)}), dimensions={{1,0}}",
            f"  {v} = f32[4,8] reshape({t})",
        ]
        return v

    def _update(self, lines: list[str], values: list[str], index: str, depth: int) -> str:
        s, z, v, n = self.name(), self.name(), self.name(), self.name()
        target, source = self._pick(values), self._pick(values)
        lines += [
            f"  {z} = s32[] constant({self.random.randint(0, 7)})",
            f"  {s} = f32[1,8] dynamic-slice({source}, {index}, {z}), dynamic_slice_sizes={{1,8}}",
            f"  {n} = f32[1,8] negate({s})",
            f"  {v} = f32[4,8] dynamic-update-slice({target}, {self.random.choice([s, n])}, {index}, {z})",
        ]
        return v

    def _slice(self, lines: list[str], values: list[str], index: str, depth: int) -> str:
        s, z, v = self.name(), self.name(), self.name()
        low = self.random.randint(0, 3)
        lines += [
            f"  {s} = f32[4,{8 - low}] slice({self._pick(values)}), slice={{[0:4], [{low}:8]}}",
            f"  {z} = f32[] constant(2)",
            f"  {v} = f32[4,8] pad({s}, {z}), padding=0_0x0_{low}",
        ]
        return v

    def _iota(self, lines: list[str], values: list[str], index: str, depth: int) -> str:
        i, v = self.name(), self.name()
        lines += [
            f"  {i} = f32[4,8] iota(), iota_dimension={self.random.randint(0, 1)}",
            f"  {v} = f32[4,8] add({i}, {self._pick(values)})",
        ]
        return v

    def _while(self, lines: list[str], values: list[str], index: str, depth: int) -> str:
        width = self.random.randint(1, 4)
        shape = f"(s32[], {', '.join(['f32[4,8]'] * width)})"
        tag = self.name()
        inner = [f"  state = {shape} parameter(0)", "  i = s32[] get-tuple-element(state), index=0"]
        own = []
        for k in range(width):
            g = self.name()
            inner.append(f"  {g} = f32[4,8] get-tuple-element(state), index={k + 1}")
            own.append(g)
        made = self.body(inner, list(own), "i", depth - 1) if self.random.random() < 0.8 else own
        following = [
            self.random.choice(
                [own[k], self.random.choice(own), self.random.choice(made), made[-1]]
            )
            for k in range(width)
        ]
        inner += [
            "  one = s32[] constant(1)",
            "  next = s32[] add(i, one)",
            f"  ROOT t = {shape} tuple(next, {', '.join(following)})",
        ]
        self.computations.append(f"body_{tag} {{\n" + "\n".join(inner) + "\n}\n")
        self.computations.append(
            f"condition_{tag} {{\n  state = {shape} parameter(0)\n  i = s32[] get-tuple-element(state), index=0\n"
            f"  limit = s32[] constant({self.random.randint(0, 4)})\n  ROOT c = pred[] compare(i, limit), direction=LT\n}}\n"
        )
        zero, initial, loop = self.name(), self.name(), self.name()
        lines += [
            f"  {zero} = s32[] constant(0)",
            f"  {initial} = {shape} tuple({zero}, {', '.join([self._pick(values) for _ in range(width)])})",
            f"  {loop} = {shape} while({initial}), condition=condition_{tag}, body=body_{tag}",
        ]
        results = []
        for k in range(width):
            g = self.name()
            lines.append(f"  {g} = f32[4,8] get-tuple-element({loop}), index={k + 1}")
            results.append(g)
        values.extend(results[:-1])
        return results[-1]

    def _conditional(self, lines: list[str], values: list[str], index: str, depth: int) -> str:
        tag = self.name()
        branches = []
        for number in range(2):
            inner = [
                "  state = (s32[], f32[4,8], f32[4,8]) parameter(0)",
                "  i = s32[] get-tuple-element(state), index=0",
                f"  a{tag}{number} = f32[4,8] get-tuple-element(state), index=1",
                f"  b{tag}{number} = f32[4,8] get-tuple-element(state), index=2",
            ]
            made = self.body(inner, [f"a{tag}{number}", f"b{tag}{number}"], "i", depth - 1)
            inner.append(
                f"  ROOT t = (f32[4,8], f32[4,8]) tuple({self.random.choice(made)}, {self.random.choice(made)})"
            )
            branches.append(f"branch_{tag}_{number}")
            self.computations.append(f"branch_{tag}_{number} {{\n" + "\n".join(inner) + "\n}\n")
        given, result, first, second, chosen, bound = [self.name() for _ in range(6)]
        lines += [
            f"  {given} = (s32[], f32[4,8], f32[4,8]) tuple({index}, {self._pick(values)}, {self._pick(values)})",
            f"  {bound} = s32[] constant({self.random.randint(0, 3)})",
            f"  {chosen} = pred[] compare({index}, {bound}), direction=GE",
            f"  {result} = (f32[4,8], f32[4,8]) conditional({chosen}, {given}, {given}), true_computation={branches[0]}, false_computation={branches[1]}",
            f"  {first} = f32[4,8] get-tuple-element({result}), index=0",
            f"  {second} = f32[4,8] get-tuple-element({result}), index=1",
        ]
        values.append(first)
        return second
