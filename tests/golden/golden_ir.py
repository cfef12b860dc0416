"""Golden LLVM IR: the `.hlo` files of this folder, their IR, and renewed check lines.

A file is an HLO module, a comment that says what to look at, a `RUN` line, and check lines in
LLVM's FileCheck notation:

    // RUN: kernels   one kernel per instruction of the entry; prefix CHECK (CPU), GPU (NVPTX)
    // RUN: host      the whole program as the CPU backend writes it; prefix CHECK

`python tests/golden/golden_ir.py [names]` writes the check lines of the files (or of the named
ones) anew: read the difference before you commit it. Branches, labels and phi nodes of kernels are
left out, so that what is checked is what is computed.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from pathlib import Path

from tests.compiler.codegen.vector_math.math_module import vector_math_module
from xla_explorer.backends.gpu.architecture import gpu_architecture
from xla_explorer.backends.gpu.emitters import write_gpu_kernels
from xla_explorer.backends.gpu.emitters.kernel_descriptors import GpuKernel
from xla_explorer.backends.gpu.emitters.selection import Overrides
from xla_explorer.backends.gpu.kernel_module import KernelModule
from xla_explorer.compiler.codegen.dispatch import kernel_is_emitted, write_kernel
from xla_explorer.compiler.codegen.ir.llvm_text import body_lines, module_text
from xla_explorer.compiler.codegen.kernels.kernel import argument_slots
from xla_explorer.compiler.codegen.nest.launch_dimensions import launch_dimensions
from xla_explorer.compiler.codegen.symbol_names import identifier
from xla_explorer.compiler.target import HOST_LIKE
from xla_explorer.hlo.text.parser import parse_hlo

FOLDER = Path(__file__).parent
FILES = sorted(path.name for path in FOLDER.glob("*.hlo"))
MOST_LINES = 48  # of one function
_NO_CODE = frozenset({"parameter", "constant", "tuple", "get-tuple-element"})
_CHECK = re.compile(r"^// (CHECK|GPU)(-\w+)?:")
_UNINTERESTING = re.compile(r"^\s*(br |%[\w.]+ = phi |ret void|\}|entry:|[\w.]+:$|$)")
_NAME = re.compile(r"%(?:v|i|n|slot|table)\d+\b")
_LABEL = re.compile(r"label %[A-Za-z_.0-9]+")
_DEFINE = re.compile(r"^define [^@]*@(\w+)\(")


def run_line(text: str) -> str:
    """Return the words of the `RUN` line: `kernels` or `host`, then options.

    `GPU`: checked there too. `cpu-only`: sequential kernels. `in-place`: the last result of each
    instruction overwrites its first operand. `by-hand`: check lines are not written anew.
    """
    found = re.search(r"^// RUN: (.*)$", text, re.MULTILINE)
    assert found is not None, "a RUN line is missing"
    return found[1].strip()


def loop_on_gpu(i, slots):
    """Return a kernel of one thread an element."""
    (one,) = write_gpu_kernels(
        i, gpu_architecture(), slots, overrides=Overrides(forced=frozenset({"loop"}))
    ).kernels
    return one.kernel


def kernels_ir(text: str, kind: str, in_place: bool = False) -> str:
    """Return the module of kernels for `cpu` or `gpu`."""
    entry = parse_hlo(text).entry
    made = []
    for i in entry.sequence():
        if i.opcode.name in _NO_CODE:
            continue
        assert kernel_is_emitted(i) is None, kernel_is_emitted(i)
        slots = list(argument_slots(i))
        if in_place:
            slots[-1] = 0
        made.append(
            (
                i,
                loop_on_gpu(i, tuple(slots))
                if kind == "gpu"
                else write_kernel(i, HOST_LIKE, tuple(slots)),
            )
        )
    if kind == "gpu":
        architecture = gpu_architecture()
        module = KernelModule(architecture)
        for i, kernel in made:
            launch = launch_dimensions(kernel.threads, architecture)
            module.add(i.name, i.id, GpuKernel(kernel, launch))
        return module_text(module.write())
    lines: list[str] = []
    declarations: dict[str, None] = {}
    math: dict[str, None] = {}
    constants: dict[str, None] = {}
    for i, kernel in made:
        pointers = ", ".join(
            [f"ptr %a{k}" for k in range(kernel.parameters)]
            + [f"ptr %data{k}" for k in range(len(kernel.constant_data))]
            + ["ptr %scratch"] * (kernel.scratch_bytes > 0)
        )
        lines += [
            f"define void @{identifier(i.name)}({pointers}) {{",
            *body_lines(kernel.body),
            "}",
            "",
        ]
        declarations.update(dict.fromkeys([d.text for d in kernel.declarations]))
        math.update(dict.fromkeys(kernel.math))
        constants.update(dict.fromkeys([g.text for g in kernel.globals]))
    library = vector_math_module(tuple(math)).splitlines() if math else []
    declarations.update(dict.fromkeys([line for line in library if line.startswith("declare ")]))
    return "\n".join(
        [
            *constants,
            *lines,
            *[line for line in library if not line.startswith("declare ")],
            *declarations,
            "!0 = !{}",
            "",
        ]
    )


def host_ir(text: str) -> str:
    """Return the program as the CPU backend writes it, without optimising passes."""
    from xla_explorer.backends.cpu.cpu_compiler import CpuCompiler
    from xla_explorer.backends.cpu_program.program_writing import write_program
    from xla_explorer.backends.interfaces import CompileOptions
    from xla_explorer.compiler.buffers import assign_buffers

    module = CpuCompiler().run_hlo_passes(parse_hlo(text), CompileOptions(passes="none")).module
    return write_program(module, assign_buffers(module)).text


def golden_texts(text: str) -> dict[str, str]:
    """Return the IR by check prefix."""
    command = run_line(text).split()
    if command[0] == "host":
        return {"CHECK": host_ir(text)}
    in_place = "in-place" in command
    texts = {"CHECK": kernels_ir(text, "cpu", in_place)}
    if "cpu-only" not in command:
        texts["GPU"] = kernels_ir(text, "gpu", in_place)
    return texts


def run_filecheck(path: Path, prefix: str, ir: str) -> str:
    """Empty when the check lines of the prefix match, else FileCheck's complaint."""
    from filecheck.finput import FInput
    from filecheck.matcher import Matcher
    from filecheck.options import Options
    from filecheck.parser import Parser

    options = Options(match_filename=str(path), check_prefixes=[prefix])
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        try:
            status = Matcher(options, FInput("ir", ir), Parser.from_opts(options)).run()
        except SystemExit as stopped:
            status = int(stopped.code or 0)
    return "" if status == 0 else said.getvalue() or f"FileCheck ended with {status}"


def _with_captures(line: str, known: set[str]) -> str:
    """Return the line with value names as FileCheck variables, captured at their first use."""

    def name(found: re.Match[str]) -> str:
        word = found[0]
        if word in known:
            return f"[[{word[1:].upper()}]]"
        known.add(word)
        return f"[[{word[1:].upper()}:%\\w+]]"

    return _NAME.sub(name, line)


def check_lines(ir: str, prefix: str, only: tuple[str, ...] | None = None) -> list[str]:
    """Check lines for an IR module: its own functions, value names captured.

    only: just these functions, with their branches.
    """
    lines: list[str] = []
    known: set[str] = set()
    count, inside = 0, False
    for line in ir.splitlines():
        define = _DEFINE.match(line)
        if define is not None:
            inside = "alwaysinline" not in line and (only is None or define[1] in only)
            known, count = set(), 0
            if inside:
                lines += ["//", f"// {prefix}-LABEL: {line.split(' {')[0].split(') #')[0]}"]
        elif line == "}":
            inside = False
        elif (
            inside
            and (not _UNINTERESTING.match(line) or (only is not None and line.startswith("  br ")))
            and count < MOST_LINES
        ):
            lines.append(
                f"// {prefix}: {_with_captures(_LABEL.sub('label {{.*}}', line.strip()), known)}"
            )
            count += 1
    return lines


def update(path: Path) -> bool:
    """Write the check lines of a file anew; whether it changed."""
    old = path.read_text()
    if "by-hand" in run_line(old):
        return False
    kept = [line for line in old.splitlines() if not _CHECK.match(line) and line != "//"]
    while kept and not kept[-1].strip():
        kept.pop()
    text = "\n".join(kept) + "\n"
    prefixes = ["CHECK", "GPU"] if "GPU" in run_line(text) else ["CHECK"]
    texts = golden_texts(text)
    only = ("xe_entry", "xe_entry_body") if run_line(text).startswith("host") else None
    new = (
        text
        + "\n".join(
            [line for prefix in prefixes for line in check_lines(texts[prefix], prefix, only)]
        )
        + "\n"
    )
    path.write_text(new)
    return new != old


if __name__ == "__main__":
    for file in FILES:
        if len(sys.argv) == 1 or any(word in file for word in sys.argv[1:]):
            print(file, "changed" if update(FOLDER / file) else "as before")
