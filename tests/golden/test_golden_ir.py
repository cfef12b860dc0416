"""Golden LLVM IR of every emitter: FileCheck lines, and LLVM's verifier on the CPU and on NVPTX."""

import re

import pytest

from tests.golden.golden_ir import FILES, FOLDER, golden_texts, run_filecheck
from xla_explorer.backends.gpu.architecture import gpu_architecture
from xla_explorer.backends.llvm.llvm_compiler import IrModule
from xla_explorer.backends.llvm.target_machine import host_target
from xla_explorer.compiler.codegen.dispatch import KERNEL_ROWS, has_own_writer
from xla_explorer.compiler.codegen.elemental import ELEMENTWISE_EMITTERS, INDEXED_EMITTERS


@pytest.mark.parametrize("name", FILES)
def test_golden(name):
    path = FOLDER / name
    source = path.read_text()
    for prefix, ir in golden_texts(source).items():
        with IrModule(
            ir, gpu_architecture().target if prefix == "GPU" else host_target(), verify=True
        ):
            pass
        if f"// {prefix}" not in source:
            continue
        complaint = run_filecheck(path, prefix, ir)
        assert not complaint, (
            f"{complaint}\n(python tests/golden/golden_ir.py {name} writes the check lines anew)"
        )


def test_every_emitter_has_a_golden_file():
    emitted = {*ELEMENTWISE_EMITTERS, *INDEXED_EMITTERS, *filter(has_own_writer, KERNEL_ROWS)}
    # Of these nothing but the first operand's value remains, in the emitter that opt-barrier has
    # too.
    emitted -= {"domain", "add-dependency"}
    text = "\n".join([(FOLDER / name).read_text() for name in FILES])
    assert sorted(name for name in emitted if not re.search(rf"\b{name}\(", text)) == []


def test_check_lines_can_fail():
    path = FOLDER / "elementwise_float.hlo"
    ir = golden_texts(path.read_text())["CHECK"]
    assert run_filecheck(path, "CHECK", ir.replace("fsub contract", "fadd contract"))
