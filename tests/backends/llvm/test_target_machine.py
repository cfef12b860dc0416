"""Targets: this machine and others."""

import subprocess
import sys

import pytest

from xla_explorer.backends.llvm.llvm_compiler import emit_assembly, optimize_and_emit
from xla_explorer.backends.llvm.target_machine import (
    TargetError,
    create_target_machine,
    describe_target,
    host_target,
    llvm_version,
)

AXPY = """
define void @axpy(ptr noalias %x, ptr noalias %y) {
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  %px = getelementptr inbounds float, ptr %x, i64 %i
  %py = getelementptr inbounds float, ptr %y, i64 %i
  %a = load float, ptr %px, align 4
  %b = load float, ptr %py, align 4
  %t = fmul contract float %a, 3.0
  %s = fadd contract float %t, %b
  store float %s, ptr %py, align 4
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 4096
  br i1 %more, label %loop, label %exit
exit:
  ret void
}
"""


def test_host():
    host = host_target()
    assert host is host_target()
    assert host.is_host and host.triple and host.cpu
    assert host.vector_register_bits in (0, 128, 256, 512)
    assert "e" in host.data_layout.split("-")
    assert llvm_version()[0].isdigit()


def test_a_machine_reports_its_triple():
    assert create_target_machine(host_target()).triple.split("-")[0] == host_target().architecture


@pytest.mark.parametrize(
    ("triple", "cpu", "features", "bits", "sign"),
    [
        ("x86_64-linux-gnu", "x86-64-v3", "", 256, "ymm"),
        ("x86_64-linux-gnu", "x86-64-v2", "", 128, "xmm"),
        ("aarch64-linux-gnu", "neoverse-n1", "", 128, "fmla"),
        ("riscv64-linux-gnu", "", "+m,+a,+f,+d,+c,+v", 128, "vsetvli"),
        ("wasm32-unknown-unknown", "", "+simd128", 128, "f32x4"),
        ("nvptx64-nvidia-cuda", "sm_80", "+ptx80", 0, ".visible .func"),
    ],
)
def test_other_targets(triple, cpu, features, bits, sign):
    description = describe_target(triple, cpu, features, relocation_model="pic")
    assert description.vector_register_bits == bits
    assert sign in emit_assembly(AXPY, description)
    if "nvptx" not in triple:
        assert len(optimize_and_emit(AXPY, description).object_bytes) > 100


def test_abi_of_riscv():
    assert describe_target("riscv64-linux-gnu", features="+m,+f,+d").abi_name == "lp64d"
    assert describe_target("riscv64-linux-gnu", features="+m").abi_name == "lp64"


def test_unknown_triple():
    with pytest.raises(TargetError, match="z80"):
        create_target_machine(describe_target("z80-unknown-none"))


def test_cache_key_differs_by_what_matters():
    a = describe_target("x86_64-linux-gnu", "x86-64-v3")
    keys = {
        a.cache_key(),
        describe_target("x86_64-linux-gnu", "x86-64-v4").cache_key(),
        describe_target("x86_64-linux-gnu", "x86-64-v3", "+avx512f").cache_key(),
        describe_target("x86_64-linux-gnu", "x86-64-v3", relocation_model="pic").cache_key(),
    }
    assert len(keys) == 4


def test_importing_does_not_load_llvm():
    code = (
        "import sys, xla_explorer.backends.llvm.llvm_compiler, xla_explorer.backends.llvm.native_library, "
        "xla_explorer.backends.cpu.blas\nassert 'llvmlite' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
