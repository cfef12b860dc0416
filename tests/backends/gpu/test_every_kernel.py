"""Every emitter's PTX: LLVM selects all instructions, ptxas accepts; no calls, no spills."""

import re
from pathlib import Path

import pytest

from xla_explorer.backends.gpu.architecture import gpu_architecture
from xla_explorer.backends.gpu.emitters import write_gpu_kernels
from xla_explorer.backends.gpu.gpu_stages import PTX_OPTIMIZATION
from xla_explorer.backends.gpu.kernel_module import KernelModule
from xla_explorer.backends.gpu.ptx_assembler import assemble_ptx, find_ptxas, why_no_ptxas
from xla_explorer.backends.llvm.llvm_compiler import emit_assembly
from xla_explorer.compiler.codegen.dispatch import kernel_is_emitted
from xla_explorer.compiler.target import Kind
from xla_explorer.hlo.text.parser import parse_hlo

GOLDEN = Path(__file__).parents[2] / "golden"
NO_CODE = frozenset(
    {"parameter", "constant", "tuple", "get-tuple-element", "while", "conditional", "call"}
)


def every_kernel(architecture):
    """Return the kernels of all golden modules in one LLVM module."""
    module = KernelModule(gpu_architecture(architecture))
    for path in sorted(GOLDEN.glob("*.hlo")):
        for i in parse_hlo(path.read_text()).entry.sequence():
            if i.opcode.name not in NO_CODE and kernel_is_emitted(i, Kind.GPU) is None:
                emitted = write_gpu_kernels(i, gpu_architecture(architecture))
                for one in emitted.kernels:
                    module.add(
                        f"{path.stem}_{i.name}",
                        i.id,
                        one,
                    )
    return module


@pytest.mark.long
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90", "sm_100"])
@pytest.mark.sampled(1)
def test_all_golden_kernels(architecture):
    module = every_kernel(architecture)
    assert len(module.kernels) > 90
    text = emit_assembly(module.write(), gpu_architecture(architecture).target, PTX_OPTIMIZATION)
    assert re.findall(r"\.visible \.entry (\w+)\(", text) == [k.name for k in module.kernels]
    assert not re.search(r"\.extern|call\.uni", text)
    if find_ptxas() is None:
        pytest.skip(str(why_no_ptxas()))
    resources = assemble_ptx(text, architecture).resources
    assert len(resources) == len(module.kernels)
    assert [row for row in resources if row.spill_stores or row.stack] == []
