"""The text of vector math: names, closure, and vectorised loops without calls everywhere."""

from __future__ import annotations

import re
import subprocess
import sys

import llvmlite.binding as llvm
import pytest

from tests.compiler.codegen.vector_math.math_module import vector_math_module
from tests.compiler.codegen.vector_math.vector_math_loops import (
    compiled_loops,
    loop_name,
    module_text,
    optimised,
)
from xla_explorer.compiler.codegen.vector_math import (
    ELEMENT_TYPES,
    vector_math_function,
    vector_math_opcodes,
)

CALL = re.compile(r"\s*(?:bl|blr|callq?|call\.\w+|call_indirect|tail|jal|jalr)\s")


@pytest.mark.parametrize("element_type", ELEMENT_TYPES)
@pytest.mark.parametrize("opcode", vector_math_opcodes())
def test_loops_are_vectorised_without_calls(opcode: str, element_type: str) -> None:
    loops = compiled_loops(element_type)
    body = loops.bodies[loop_name(opcode)]
    llvm_type = {"f32": "float", "f64": "double"}[element_type]
    assert re.search(
        rf"= (?:tail )?(?:call|f\w+|select)[^\n]*<\d+ x (?:{llvm_type}|double)>", body
    ), body[:2000]
    called = set(re.findall(r"call [^@\n]*@([\w.]+)", body))
    assert all(name.startswith("llvm.") for name in called), called
    # Everything was inlined away.
    assert all(name.startswith("loop_") for name in loops.bodies)


def test_names_suit_ptxas() -> None:
    for opcode in vector_math_opcodes():
        for element_type in ELEMENT_TYPES:
            function = vector_math_function(opcode, element_type)
            assert re.fullmatch(r"xe_\w+", function.name)
            assert f"@{function.name}(" in function.text
            assert "alwaysinline nounwind" in function.text and "memory(none)" in function.text


def test_an_unknown_function_is_refused_with_the_list() -> None:
    with pytest.raises(LookupError, match=r"'logisstic'.*exponential.*f32, f64"):
        vector_math_function("logisstic", "f32")
    with pytest.raises(LookupError, match="bf16"):
        vector_math_function("tanh", "bf16")
    with pytest.raises(LookupError, match="xe_nothing"):
        vector_math_module(["xe_nothing"])


def test_a_module_holds_each_function_and_declaration_once() -> None:
    names = [
        vector_math_function(opcode, "f32").name
        for opcode in ("logistic", "exponential", "tanh", "logistic")
    ]
    text = vector_math_module(names)
    heads = re.findall(r"^(?:define|declare) .*?@([\w.]+)\(", text, re.M)
    assert len(heads) == len(set(heads))
    assert heads[:3] == ["xe_exponential_f32", "xe_logistic_f32", "xe_tanh_f32"]
    assert vector_math_function("logistic", "f32").dependencies == ("xe_exponential_f32",)
    llvm.parse_assembly(text).verify()


def test_the_text_needs_no_llvm() -> None:
    program = (
        "import sys; from xla_explorer.compiler.codegen.vector_math import vector_math_function as f; "
        "f('tanh', 'f32'); sys.exit('llvmlite' in sys.modules or 'numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


TARGETS = [
    ("aarch64-unknown-linux-gnu", "neoverse-n1", "", True),
    ("x86_64-unknown-linux-gnu", "x86-64-v3", "", True),
    ("riscv64-unknown-linux-gnu", "generic-rv64", "+m,+a,+f,+d,+c,+v", True),
    ("wasm32-unknown-unknown", "generic", "+simd128", False),
    ("nvptx64-nvidia-cuda", "sm_80", "+ptx80", True),
]


@pytest.mark.parametrize(
    ("triple", "cpu", "features", "fused"), TARGETS, ids=[target[0] for target in TARGETS]
)
@pytest.mark.parametrize("element_type", ELEMENT_TYPES)
@pytest.mark.sampled(3)
def test_every_target_compiles_it_without_libm(
    triple: str, cpu: str, features: str, fused: bool, element_type: str
) -> None:
    machine = llvm.Target.from_triple(triple).create_target_machine(
        cpu=cpu, features=features, opt=2, reloc="static"
    )
    text = module_text(element_type, fused)
    if element_type == "f64" and not fused:
        # The f64 remainder without fma is frem: the one call, as documented.
        text = re.sub(r"%v\d+ = frem double %x, %y\n  ret double %v\d+", "ret double %x", text)
    assembly = machine.emit_assembly(optimised(text, machine))
    calls = {line.strip() for line in assembly.splitlines() if CALL.match(line)}
    assert not calls, calls
