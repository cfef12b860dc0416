"""Two fake sources for views: a small softmax written out in full, and a generated module."""

from __future__ import annotations

from typing import Any

from xla_explorer.explorer.display.code_pane import CodePane, PrintedLine, TextLine
from xla_explorer.explorer.display.plain_data import plain
from xla_explorer.explorer.page.json_data import to_mapping
from xla_explorer.explorer.page.rows import (
    BufferView,
    Column,
    LlvmPassRow,
    RemarkRow,
    RewriteRow,
    ScheduleMoment,
    SharingReason,
    StepRow,
)
from xla_explorer.explorer.page.view import View
from xla_explorer.explorer.pictures.folding import fold_picture
from xla_explorer.explorer.pictures.picture import (
    PictureEdge,
    PictureGraph,
    PictureGroup,
    PictureNode,
)
from xla_explorer.explorer.questions.rewrite_rows import RewriteStep, RuleText
from xla_explorer.explorer.tables.kernel import Kernel, MachineRoof
from xla_explorer.explorer.tables.rows import Buffer
from xla_explorer.foundation.decision import Decision
from xla_explorer.foundation.reason import Check

ROWS = "f32[128,256]"
# id: (name, opcode label, kind, shape, operands, attributes)
INSTRUCTIONS = {
    1: ("x", "parameter 0", "parameter", ROWS, (), ""),
    2: ("one", "constant 1", "constant", "f32[]", (), ""),
    3: ("ones", "broadcast {}", "data-movement", ROWS, (2,), ", dimensions={}"),
    4: ("scaled", "multiply", "elementwise", ROWS, (1, 3), ""),
    5: ("low", "constant -inf", "constant", "f32[]", (), ""),
    6: ("max.6", "max over 1", "reduction", "f32[128]", (4, 5), ", dimensions={1}, to_apply=%max"),
    7: ("max_b.7", "broadcast {0}", "data-movement", ROWS, (6,), ", dimensions={0}"),
    8: ("shifted.8", "subtract", "elementwise", ROWS, (4, 7), ""),
    9: ("exp.9", "exponential", "elementwise", ROWS, (8,), ""),
    10: ("exp_again.10", "exponential", "elementwise", ROWS, (8,), ""),
    11: ("zero", "constant 0", "constant", "f32[]", (), ""),
    12: (
        "sum.12",
        "sum over 1",
        "reduction",
        "f32[128]",
        (9, 11),
        ", dimensions={1}, to_apply=%add",
    ),
    13: ("sum_b.13", "broadcast {0}", "data-movement", ROWS, (12,), ", dimensions={0}"),
    14: ("quotient.14", "divide", "elementwise", ROWS, (10, 13), ""),
    15: ("w", "parameter 1", "parameter", "f32[256,64]", (), ""),
    16: (
        "dot.16",
        "dot",
        "contraction",
        "f32[128,64]",
        (14, 15),
        ", lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    ),
    17: ("result", "tuple", "data-movement", "(f32[128,256], f32[128,64])", (14, 16), ""),
}
OPCODES = {
    "max over 1": "reduce",
    "sum over 1": "reduce",
    "broadcast {}": "broadcast",
    "broadcast {0}": "broadcast",
}


def _opcode_of(label: str, kind: str) -> tuple[str, str]:
    """Return the opcode of a label, and what a parameter or constant holds."""
    word, _, rest = label.partition(" ")
    return OPCODES.get(label, word), rest if kind in ("parameter", "constant") else ""


FUSIONS = {
    18: ("max_fusion", "max over 1", [5, 6]),
    19: ("exp_sum_fusion", "subtract, exponential, sum", [7, 8, 9, 11, 12]),
}
FUSIONS |= {20: ("softmax_fusion", "subtract, exponential, divide", [13, 14])}

STEPS = (
    StepRow(0, "input", "as written", False, 0.0, 17, 17),
    StepRow(1, "simplification", "call-inliner", False, 0.00002, 17, 17),
    StepRow(2, "simplification", "zero_sized_hlo_elimination", False, 0.00001, 17, 17),
    StepRow(3, "simplification", "algsimp", True, 0.00041, 17, 14, 2),
    StepRow(4, "simplification", "cse", True, 0.00012, 14, 13, 1),
    StepRow(5, "simplification", "dce", False, 0.00003, 13, 13),
    StepRow(6, "layout", "layout-assignment", False, 0.00022, 13, 13),
    StepRow(7, "fusion", "fusion", True, 0.0009, 13, 16, 0),
    StepRow(8, "fusion", "multi_output_fusion", False, 0.0002, 16, 16),
    StepRow(9, "scheduling", "copy-insertion", False, 0.0001, 16, 16),
)
DECISIONS = (
    Decision(
        "fusion",
        "refused",
        (9, 14),
        ("exp.9", "quotient.14"),
        "would-duplicate-expensive",
        "exp.9 has 2 users; computing it twice costs 0.9 us and saves 0.4 us",
        {
            "users": 2,
            "estimated_us_fused": 61.7,
            "estimated_us_unfused": 61.2,
            "bytes_saved": 131072,
        },
        7,
        (
            Check("producer has no side effect", True),
            Check("layouts agree", True),
            Check(
                "duplicates-nothing-expensive",
                False,
                "2 users",
                "exponential is expensive and has 2 users",
                "would-duplicate-expensive",
            ),
            Check("fits max_operands=64", None),
        ),
        True,
    ),
    Decision(
        "fusion",
        "accepted",
        (8, 9),
        ("shifted.8", "exp.9"),
        "saves-memory-traffic",
        "the subtraction is read once; its 131072 bytes never reach memory",
        {"bytes_saved": 262144, "estimated_us_fused": 38.0, "estimated_us_unfused": 52.5},
        7,
        (
            Check("producer has no side effect", True),
            Check("layouts agree", True),
            Check("saves time", True, "14.5 us"),
        ),
    ),
    Decision(
        "fusion",
        "accepted",
        (9, 12),
        ("exp.9", "sum.12"),
        "reduction-of-elementwise",
        "exp feeds one reduction",
        {},
        7,
    ),
    Decision(
        "fusion",
        "refused",
        (14, 16),
        ("quotient.14", "dot.16"),
        "consumer-is-library-call",
        "dot.16 runs in the BLAS library",
        {},
        7,
    ),
)
REWRITES = {
    3: (
        RewriteRow(
            "multiply-one",
            "accepted",
            4,
            (1,),
            "Rewrite x * 1 as x.",
            "simplifiers/algebraic.py:41",
            "scaled",
        ),
        RewriteRow(
            "remove-unused",
            "accepted",
            3,
            (),
            "An instruction that nothing reads is removed.",
            "simplifiers/algebraic.py:9",
            "ones",
        ),
    ),
    4: (
        RewriteRow(
            "cse",
            "accepted",
            10,
            (9,),
            "Equal instructions with equal operands are one.",
            "simplifiers/cse.py:30",
            "exp_again.10",
        ),
    ),
}


class SoftmaxSource:
    """Softmax and a matrix product through ten passes, four of which change something."""

    title = "softmax_dot"
    passes = None
    session = None

    def __init__(self, *, failed: bool = False) -> None:
        self._failed = failed

    def summary(self) -> dict[str, str | float | int]:
        return {
            "backend": "cpu",
            "passes": 9,
            "changed": 3,
            "kernels_before": 13,
            "kernels_after": 4,
            "run_us": 61.2,
            "run_iqr_us": 1.4,
            "runs": 20,
            "run_us_before": 148.0,
        }

    def steps(self) -> list[StepRow]:
        if self._failed:
            bad = StepRow(
                7,
                "fusion",
                "fusion",
                False,
                0.0001,
                13,
                13,
                0,
                "HloVerifyError: %sum.12: operand 1 is not defined\n  ^",
            )
            return [*STEPS[:7], bad]
        return list(STEPS)

    def view(self, *, live: bool = True) -> View:
        return View(self, live=live)

    def rewrites(self, step: int) -> tuple[RewriteRow, ...]:
        return REWRITES.get(step, ())

    def rewrite(self, step: int, number: int) -> RewriteStep:
        raise ValueError("the rewrites of this view cannot be repeated one by one")

    def _alive(self, step: int) -> dict[int, tuple[str, str, str, str, tuple[int, ...], str]]:
        rows = dict(INSTRUCTIONS)
        if step >= 3:
            for key in (2, 3, 4):
                del rows[key]
            rows[6] = (*rows[6][:4], (1, 5), rows[6][5])
            rows[8] = (*rows[8][:4], (1, 7), rows[8][5])
        if step >= 4:
            del rows[10]
            rows[14] = (*rows[14][:4], (9, 13), rows[14][5])
        return rows

    def picture(self, step: int, computation: str | None = None) -> PictureGraph:
        rows = self._alive(step)
        group_of = (
            {member: f"f{key}" for key, (_, _, inside) in FUSIONS.items() for member in inside}
            if step >= 7
            else {}
        )
        nodes = [
            PictureNode(
                key,
                label,
                shape,
                kind,
                group_of.get(key),
                name,
                (f"operands {operands}",),
                *_opcode_of(label, kind),
            )
            for key, (name, label, kind, shape, operands, _) in rows.items()
        ]
        size = {ROWS: 131072, "f32[128]": 512, "f32[256,64]": 65536, "f32[]": 4}
        edges = [
            PictureEdge(operand, key, "data", size.get(rows[operand][3], 0))
            for key, row in rows.items()
            for operand in row[4]
        ]
        groups = []
        if step >= 7:
            groups = [
                PictureGroup(
                    f"f{key}",
                    label,
                    f"fusion of {len(inside)}",
                    "fusion",
                    None,
                    key,
                    name,
                    "fusion",
                )
                for key, (name, label, inside) in FUSIONS.items()
            ]
            edges.append(PictureEdge(14, 16, "fusion-refused", 131072, "consumer-is-library-call"))
            edges.append(PictureEdge(9, 14, "fusion-refused", 131072, "would-duplicate-expensive"))
        return fold_picture(
            PictureGraph(nodes, edges, groups, title=f"{self.title} after {STEPS[step].name}")
        )

    def text(self, step: int) -> list[PrintedLine]:
        rows = self._alive(step)
        lines: list[PrintedLine] = [
            (f"HloModule {self.title}", None),
            ("", None),
            ("ENTRY %main {", None),
        ]
        for key, (name, label, _, shape, operands, attributes) in rows.items():
            opcode, argument = _opcode_of(label, rows[key][2])
            inside = argument or ", ".join(f"%{rows[o][0]}" for o in operands)
            root = "ROOT " if key == 17 else ""
            lines.append((f"  {root}%{name} = {shape} {opcode}({inside}){attributes}", key))
        if step >= 7:
            for key, (name, _, inside) in FUSIONS.items():
                lines.append(
                    (
                        f"  // %{name} = fusion of {', '.join(rows[i][0] for i in inside if i in rows)}",
                        key,
                    )
                )
        return [*lines, ("}", None)]

    def decisions(self, step: int | None = None) -> list[Decision]:
        rows = [] if self._failed else list(DECISIONS)
        return [row for row in rows if step is None or row.step == step]

    def panes(self) -> list[CodePane]:
        llvm = [
            TextLine("define void @exp_sum_fusion(ptr %x, ptr %out) {", 19),
            TextLine("entry:"),
            TextLine("  br label %loop"),
        ]
        llvm += [
            TextLine("loop:"),
            TextLine("  %v = load <8 x float>, ptr %p, align 32", 8),
            TextLine("  %s = fsub <8 x float> %v, %m", 8),
        ]
        llvm += [
            TextLine(f"  %e{k} = fmul fast <8 x float> %s, %c{k} ; polynomial of exp", 9)
            for k in range(30)
        ]
        llvm += [
            TextLine("  %t = fadd <8 x float> %acc, %e29", 12),
            TextLine("  br i1 %done, label %exit, label %loop"),
            TextLine("}"),
        ]
        llvm += [
            TextLine("define void @softmax_fusion(ptr %x, ptr %out) {", 20),
            TextLine("  %q = fdiv <8 x float> %e, %b", 14),
            TextLine("}"),
        ]
        assembly = [
            TextLine("exp_sum_fusion:", 19),
            TextLine("\tvmovups\t(%rdi,%rax), %ymm0", 8),
            TextLine("\tvsubps\t%ymm1, %ymm0, %ymm0", 8),
        ]
        assembly += [
            TextLine(f"\tvfmadd213ps\t.LC{k}(%rip), %ymm0, %ymm{k % 16}", 9) for k in range(40)
        ]
        assembly += [
            TextLine("\tvaddps\t%ymm2, %ymm3, %ymm3", 12),
            TextLine("\tvdivps\t%ymm4, %ymm0, %ymm0", 14),
            TextLine("\tretq"),
        ]
        source = [
            TextLine("def attention_weights(x, w):"),
            TextLine("    e = jnp.exp(x - x.max(-1, keepdims=True))", 9),
        ]
        source += [
            TextLine("    y = e / e.sum(-1, keepdims=True)", 14),
            TextLine("    return y, y @ w", 16),
        ]
        return [
            CodePane("source", source, "model.py"),
            CodePane("hlo", self.text(9), "xla_explorer cpu"),
            CodePane("llvm-ir", llvm, "xla_explorer cpu"),
            CodePane(
                "llvm-ir-optimized",
                [line for line in llvm if "br label" not in line.text],
                "LLVM 20, O3",
            ),
            CodePane("assembly", assembly, "LLVM 20, x86-64 AVX2"),
        ]

    def timings(self) -> list[Kernel]:
        if self._failed:
            return []
        return [
            Kernel(
                "exp_sum_fusion",
                "fusion",
                n=20,
                median_us=28.1,
                iqr_us=0.9,
                bytes=262656,
                flops=655360,
                gb_per_s=9.3,
                share=0.46,
                line="model.py:2",
                runs_on="native",
                instruction=19,
                roof_share=0.41,
            ),
            Kernel(
                "dot.16",
                "dot",
                n=20,
                median_us=17.4,
                iqr_us=0.6,
                bytes=229376,
                flops=4194304,
                gb_per_s=13.2,
                share=0.28,
                line="model.py:4",
                runs_on="native",
                instruction=16,
                roof_share=0.77,
            ),
            Kernel(
                "softmax_fusion",
                "fusion",
                n=20,
                median_us=10.3,
                iqr_us=0.3,
                bytes=262656,
                flops=32768,
                gb_per_s=25.5,
                share=0.17,
                line="model.py:3",
                runs_on="native",
                instruction=20,
                roof_share=0.92,
            ),
            Kernel(
                "max_fusion",
                "fusion",
                n=20,
                median_us=5.4,
                iqr_us=2.1,
                bytes=131584,
                flops=32768,
                gb_per_s=24.4,
                share=0.09,
                line="model.py:2",
                runs_on="evaluator",
                instruction=18,
            ),
        ]

    def history(self, instruction: int) -> list[str]:
        name = INSTRUCTIONS.get(instruction, FUSIONS.get(instruction, ("?",)))[0]
        made = (
            f"step 0: %{name} written"
            if instruction in INSTRUCTIONS
            else f"step 7: %{name} created by fusion"
        )
        extra = [
            f"step {s}: {r.rule}, {r.sentence}"
            for s, rows in REWRITES.items()
            for r in rows
            if instruction in (r.subject, *r.produced)
        ]
        return [made, *extra]


class GeneratedSource(SoftmaxSource):
    """`count` elementwise instructions in layers of twenty and six passes that remove some.

    For size and speed.
    """

    def __init__(self, count: int = 2000) -> None:
        super().__init__()
        self.title = f"generated_{count}"
        self._count = count

    def steps(self) -> list[StepRow]:
        rows = [StepRow(0, "input", "as written", False, 0.0, self._count, self._count)]
        for k in range(1, 7):
            before, after = len(self._ids(k - 1)), len(self._ids(k))
            rows.append(
                StepRow(k, "simplification", f"pass-{k}", True, 0.001 * k, before, after, 0)
            )
        return rows

    def _ids(self, step: int) -> list[int]:
        return [key for key in range(self._count) if key < 40 or (key * 7919) % 101 >= 2 * step]

    def rewrites(self, step: int) -> tuple[RewriteRow, ...]:
        return ()

    def _operands(self, key: int, alive: set[int]) -> list[int]:
        wanted = [] if key < 20 else [key - 20, key - 20 + (key * 31) % 19]
        return sorted(
            {o for o in wanted if o in alive and o < key} or ({key % 20} if key >= 20 else set())
        )

    def picture(self, step: int, computation: str | None = None) -> PictureGraph:
        ids = self._ids(step)
        alive = set(ids)
        nodes = [
            PictureNode(
                k,
                "parameter" if k < 20 else "add",
                "f32[64]",
                "parameter" if k < 20 else "elementwise",
                None,
                f"v.{k}",
            )
            for k in ids
        ]
        edges = [PictureEdge(o, k, "data", 256) for k in ids for o in self._operands(k, alive)]
        return PictureGraph(nodes, edges, title=self.title)

    def text(self, step: int) -> list[PrintedLine]:
        ids = self._ids(step)
        alive = set(ids)
        return [
            (f"  %v.{k} = f32[64] add({', '.join(f'%v.{o}' for o in self._operands(k, alive))})", k)
            for k in ids
        ]

    def decisions(self, step: int | None = None) -> list[Decision]:
        return []

    def panes(self) -> list[CodePane]:
        return [
            CodePane("hlo", self.text(6)),
            CodePane(
                "llvm-ir", [TextLine(f"  %x{k} = fadd float %a, %b", k) for k in self._ids(6)]
            ),
        ]

    def timings(self) -> list[Kernel]:
        return []

    def history(self, instruction: int) -> list[str]:
        return []


def nested_scopes(layers: int = 6, size: int = 30) -> PictureGraph:
    """Scopes nested two deep, a fusion in each; more than a budget of 100 can show at once."""
    nodes, edges, groups = [], [], []
    for layer in range(layers):
        groups.append(PictureGroup(f"scope:{layer}", f"layer {layer}", "", "scope"))
        groups.append(PictureGroup(f"scope:{layer}/mlp", "mlp", "", "scope", f"scope:{layer}"))
        groups.append(
            PictureGroup(
                f"f{layer}",
                "add",
                f"fusion of {size // 3}",
                "fusion",
                f"scope:{layer}/mlp",
                10_000 + layer,
                f"fusion.{layer}",
            )
        )
        for k in range(size):
            key = layer * size + k
            group = (
                f"f{layer}"
                if k % 3 == 0
                else f"scope:{layer}/mlp"
                if k % 3 == 1
                else f"scope:{layer}"
            )
            nodes.append(PictureNode(key, "add", "f32[8]", "elementwise", group, f"add.{key}"))
            edges += [PictureEdge(o, key, "data", 32) for o in {key - 1, key - 7} if o >= 0]
    return PictureGraph(nodes, edges, groups, title="scoped")


HOSTILE = (
    '<img src=x onerror="window.pwned=1">',
    "</text></svg><script>window.pwned=1</script>",
    '"><svg onload=window.pwned=1>',
    "' onmouseover='window.pwned=1",
    "]]>&lt;&#0;\x00\x1b\ud800",
    "</script><script>window.pwned=1</script>",
    "<!--<script>",
    "a" * 3000,
    "__proto__",
    "constructor",
)


class HostileView(View):
    """Every text of every answer tries to be markup."""

    def buffers(self) -> dict[str, Any] | None:
        rows = tuple(
            [
                Buffer(t, t, t, t, "arena", 64 * k, 64, k, k + 2, (t,), t, k, k, k + 2)
                for k, t in enumerate(HOSTILE)
            ]
        )
        schedule = tuple([ScheduleMoment(k, t, float(k), 64, t) for k, t in enumerate(HOSTILE)])
        return to_mapping(BufferView(rows, 640, 64, schedule, 1, 0, (SharingReason(*HOSTILE[:4]),)))

    def rows(self) -> list[Kernel]:
        return [
            Kernel(t, t, t, t, 1.0, 2.0, 0.1, 3, 1.0, line=t, instruction=k, code=t, reason=t)
            for k, t in enumerate(HOSTILE)
        ]

    def columns(self) -> list[Column]:
        return [Column(t, t, {1: 1.0, 2: 3.0}) for t in HOSTILE[:3]]

    def roof(self) -> MachineRoof:
        return MachineRoof(HOSTILE[0], 1e11, 1e10, ((1024, 1e11),))

    def remarks(self) -> Any:
        return plain([RemarkRow("passed", t, t, t, t, k) for k, t in enumerate(HOSTILE)])

    def rules(self, names: list[str]) -> Any:
        return plain({HOSTILE[0]: RuleText(HOSTILE[1], HOSTILE[2], HOSTILE[5])})

    def help(self) -> dict[str, str]:
        return {t: t for t in HOSTILE}

    def llvm_kernels(self) -> list[str]:
        return [HOSTILE[0]]

    def llvm(self, kernel: str) -> Any:
        rows = [
            LlvmPassRow(t, "ir", 1, 1, 1, 1, f"--- a\n+++ b\n@@ -1 +1 @@\n-{t}\n+{t}{t}")
            for t in HOSTILE
        ]
        return plain(rows)


class HostileSource(SoftmaxSource):
    """Every text that a module can choose tries to be markup."""

    title = HOSTILE[1]

    def view(self, *, live: bool = True) -> View:
        return HostileView(self, live=live)

    def rewrite(self, step: int, number: int) -> RewriteStep:
        return RewriteStep(self.text(0), self.text(1), self.picture(0), self.picture(1))

    def summary(self) -> dict[str, str | float | int]:
        return {"backend": HOSTILE[0], "note": HOSTILE[5]}

    def steps(self) -> list[StepRow]:
        return [
            StepRow(0, HOSTILE[0], HOSTILE[1], False, 0.0, 10, 10),
            StepRow(1, HOSTILE[2], HOSTILE[3], True, 0.001, 10, 10, 1),
        ]

    def rewrites(self, step: int) -> tuple[RewriteRow, ...]:
        return (
            (RewriteRow(HOSTILE[0], "accepted", 1, (2,), HOSTILE[5], HOSTILE[2], HOSTILE[1]),)
            if step
            else ()
        )

    def picture(self, step: int, computation: str | None = None) -> PictureGraph:
        nodes = [
            PictureNode(k, text, text, "elementwise", "g<>" if k > 4 else None, text, (text,))
            for k, text in enumerate(HOSTILE)
        ]
        edges = [
            PictureEdge(k, k + 1, "fusion-refused", 8, HOSTILE[k]) for k in range(len(HOSTILE) - 1)
        ]
        return PictureGraph(
            nodes,
            edges,
            [PictureGroup("g<>", HOSTILE[0], HOSTILE[1], "fusion", None, 99, HOSTILE[2])],
            title=HOSTILE[step],
        )

    def text(self, step: int) -> list[PrintedLine]:
        return [*[(text, k) for k, text in enumerate(HOSTILE)], (str(step), None)]

    def decisions(self, step: int | None = None) -> list[Decision]:
        return [
            Decision("fusion", "refused", (k, 1), (t, t), t, t, {t: t}, 1, (Check(t, False, t),))
            for k, t in enumerate(HOSTILE)
        ]

    def panes(self) -> list[CodePane]:
        return [
            CodePane(HOSTILE[0], self.text(0), HOSTILE[1], HOSTILE[2]),
            CodePane("llvm-ir", self.text(1), HOSTILE[0]),
        ]

    def timings(self) -> list[Kernel]:
        return [
            Kernel(
                HOSTILE[0],
                HOSTILE[1],
                n=3,
                median_us=float("nan"),
                iqr_us=1.0,
                bytes=1,
                flops=1,
                gb_per_s=1.0,
                share=0.5,
                line=HOSTILE[5],
                runs_on="evaluator",
                instruction=1,
            )
        ]

    def history(self, instruction: int) -> list[str]:
        return list(HOSTILE)
