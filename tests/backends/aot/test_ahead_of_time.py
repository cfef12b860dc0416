"""Results of `xe.aot` before linking: header, names, weights, footprint, refusals."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

import xla_explorer as xe
from tests.backends.aot.aot_programs import ATTENTION, mlp_text, need
from xla_explorer.backends.aot.c_names import c_identifier
from xla_explorer.backends.aot.errors import AheadOfTimeError
from xla_explorer.backends.aot.object_file import undefined_symbols
from xla_explorer.backends.interfaces import AotCompilationOptions
from xla_explorer.backends.interfaces.abilities import AheadOfTimeCompiler, AotCompilationResult
from xla_explorer.backends.registry import platform
from xla_explorer.compiler.codegen import operation_writer
from xla_explorer.compiler.codegen.ir.definitions import constant_bytes

ODD = """HloModule while.2
ENTRY e {
  int = c64[3,2]{0,1} parameter(0)
  p.1 = (pred[4], bf16[2]) parameter(1)
  a = pred[4] get-tuple-element(p.1), index=0
  b = bf16[2] get-tuple-element(p.1), index=1
  n = pred[4] not(a)
  empty = f32[0,4] parameter(2)
  q = f32[0,4] negate(empty)
  ROOT r = (c64[3,2]{0,1}, pred[4], bf16[2], f32[0,4]) tuple(int, n, b, q)
}
"""


def test_the_header_types_and_explains_every_buffer() -> None:
    header = xe.aot(ODD).header
    assert "#define while_2_INPUTS 4" in header and "#define while_2_OUTPUTS 4" in header
    assert (
        "input 0: c64[3, 2], in memory with dimension 0 fastest: minor to major [0, 1] (pairs: real, imaginary); %int"
        in header
    )
    assert (
        "#define while_2_int__COUNT 12 /* of float */" in header
        and "#define while_2_p_1_1_BYTES 4" in header
    )
    call = "while_2_call(const float *int_, const uint8_t *p_1_0, const uint16_t *p_1_1, const float *empty, float *result_0, uint8_t *result_1"
    assert call in header
    assert "output 3: f32[0, 4]" in header and "#define while_2_result_3_COUNT 0" in header


def test_the_header_is_c99_and_cpp98(tmp_path: Path) -> None:
    need("gcc", "g++")
    xe.aot(ODD).save(tmp_path)
    (tmp_path / "use.c").write_text(
        '#include "while_2.h"\n#include "while_2.h"\nint main(void) { return while_2_INPUTS - 4; }\n'
    )
    (tmp_path / "use.cpp").write_text((tmp_path / "use.c").read_text())
    for command in (["gcc", "-std=c99", "-c", "use.c"], ["g++", "-std=c++98", "-c", "use.cpp"]):
        done = subprocess.run(
            [*command, "-Wall", "-Wextra", "-pedantic", "-Werror"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr


def test_only_the_entry_is_visible(tmp_path: Path) -> None:
    need("nm")
    (tmp_path / "m.o").write_bytes(xe.aot(mlp_text(), prefix="net").object_bytes)
    symbols = subprocess.run(
        ["nm", "--extern-only", "--defined-only", str(tmp_path / "m.o")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert [line.split()[-1] for line in symbols.splitlines()] == ["net_run"]


@pytest.mark.parametrize(
    "triple",
    [
        "x86_64-linux-gnu",
        "aarch64-linux-gnu",
        "riscv64-linux-gnu",
        "wasm32-unknown-unknown",
        "hexagon-unknown-elf",
    ],
)
def test_no_library_is_called(triple: str) -> None:
    needs = xe.aot(mlp_text(), triple).program.needs
    # Hexagon's compilers bring a memcpy of their own for aligned copies.
    assert all(
        name in ("memcpy", "memset", "memmove") or name.startswith("__hexagon_memcpy")
        for name in needs
    ), needs


def test_weights_are_embedded_or_passed() -> None:
    embedded, passed = xe.aot(mlp_text()), xe.aot(mlp_text(), weights="pass")
    size = 4 * (32 * 64 + 64 * 10)  # the bias is below 1 KiB
    data = {
        package: package.footprint.set_index("kind")["bytes"].filter(like="data").sum()
        for package in (embedded, passed)
    }
    assert data[embedded] - data[passed] >= size and "weights" not in set(
        embedded.footprint["kind"]
    )
    assert (
        passed.footprint.set_index("kind").loc["weights", "bytes"]
        == size
        == len(passed.files["mlp.weights"])
    )
    assert (
        f"#define mlp_WEIGHTS_BYTES {size}" in passed.header
        and "const void *weights" in passed.header
    )
    first = np.frombuffer(passed.files["mlp.weights"], np.float32, 64)
    assert np.isfinite(first).all() and first.std() > 0.05


def test_a_long_program_has_its_constants_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its entry loads each pointer where it is used, and names none of them."""

    def stored(steps: int) -> int:
        monkeypatch.setattr(operation_writer, "LONG_PROGRAM", steps)
        text = xe.aot(mlp_text()).program.program.text
        assert ("optnone" in text) == (steps == 0)
        return text.count("store ptr @") + text.count("store ptr %weight")

    assert stored(0) == stored(1000) > 0


def test_the_footprint_sums_the_sections() -> None:
    frame = xe.aot(ATTENTION).footprint
    sections = frame[frame["kind"].isin(["text", "data", "bss"])]
    assert sections["bytes"].sum() == frame[frame["kind"] == "object"]["bytes"].item()
    assert frame[frame["kind"] == "text"]["bytes"].sum() > 500


def test_what_has_no_native_code_is_refused_by_name() -> None:
    text = "HloModule m\nENTRY e {\n  t = token[] after-all()\n  i = (f32[2], token[]) infeed(t)\n  ROOT x = f32[2] get-tuple-element(i), index=0\n}"
    with pytest.raises(AheadOfTimeError, match="%i") as caught:
        xe.aot(text)
    assert [reason.facts["opcode"] for reason in caught.value.reasons] == ["infeed"]
    with pytest.raises(AheadOfTimeError, match="%x"):
        xe.aot(
            "HloModule m\nENTRY e {\n  x = f32[<=4] parameter(0)\n  ROOT y = f32[<=4] negate(x)\n}"
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": "file"}, "embed, pass"),
        ({"prefix": "two words"}, "two_words"),
        ({"prefix": "while"}, "while_"),
        ({"triple": "z80-unknown"}, "z80"),
        ({"triple": "nvptx64-nvidia-cuda"}, "GPU"),
        ({"cpu": "zen9"}, "no processor 'zen9'"),
        ({"features": "+avx3"}, "no feature .*avx"),
        ({"triple": "aarch64-linux-gnu", "cpu": "neoverse-n9"}, "neoverse-n"),
        ({"triple": "s390x-linux-gnu"}, "little-endian"),
        ({"triple": "aarch64-linux-gnu", "cpu": "native"}, "native"),
    ],
)
def test_bad_options_say_what_would_do(options: dict[str, str], message: str) -> None:
    with pytest.raises(xe.XlaExplorerError, match=message):
        xe.aot(ATTENTION, **options)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("int", "int_"), ("2x", "x2x"), ("_a__b.c", "a_b_c"), ("", "x"), ("größe", "gr_e")],
)
def test_names_are_free_in_c_and_cpp(name: str, expected: str) -> None:
    assert c_identifier(name) == expected


def test_constants_keep_every_byte() -> None:
    data = bytes(range(256))
    text = constant_bytes("c", data, 64).text
    assert bytes.fromhex(text.split('c"')[1].split('"')[0].replace("\\", "")) == data


def test_undefined_symbols_are_read_from_elf_and_wasm() -> None:
    from xla_explorer.backends.llvm.cpu_targets import description_of_triple
    from xla_explorer.backends.llvm.llvm_compiler import optimize_and_emit

    text = "declare double @one(double)\ndeclare void @two(ptr)\ndefine double @f(double %x, ptr %p) {\n  call void @two(ptr %p)\n" \
           "  %y = call double @one(double %x)\n  ret double %y\n}\n"  # fmt: skip
    for triple in (
        "x86_64-linux-gnu",
        "riscv64-linux-gnu",
        "hexagon-unknown-elf",
        "wasm32-unknown-unknown",
    ):
        assert undefined_symbols(
            optimize_and_emit(text, description_of_triple(triple)).object_bytes
        ) == ["one", "two"]


@pytest.mark.parametrize(
    "triple", ["x86_64-apple-darwin", "arm64-apple-macosx", "x86_64-pc-windows-msvc"]
)
def test_other_systems_get_objects_of_their_own_format(triple: str) -> None:
    package = xe.aot(mlp_text(), triple)  # its weights are data
    assert {section.kind for section in package.program.sections} >= {
        "text",
        "data",
    } and package.build_line.startswith("cc ")
    assert package.object_bytes[:4] != b"\x7fELF"


@pytest.mark.parametrize("backend", ["cpu", "aarch64", "wasm32"])
def test_cpu_compilers_have_the_ability(backend: str) -> None:
    compiler = platform(backend).compiler()
    assert isinstance(compiler, AheadOfTimeCompiler)
    result = compiler.compile_ahead_of_time(
        xe.parse_hlo(ATTENTION), AotCompilationOptions(entry_point="thing")
    )
    assert isinstance(result, AotCompilationResult)
    assert (
        result.serialize() == result.stages["object"].data
        and "define i32 @thing_run(" in result.stages["llvm-ir"].text
    )
