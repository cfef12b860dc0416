"""Ahead-of-time objects in C and C++ programs: values, two modules, threads, sizes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

import xla_explorer as xe
from tests.backends.aot.aot_programs import ATTENTION, build, mlp_text, need, output
from xla_explorer.backends.aot.errors import AheadOfTimeError
from xla_explorer.backends.cpu.blas import blas_library_path

MAIN = """
#include "mlp.h"
#include "attention.h"
#include <stdio.h>
_Alignas(64) static unsigned char one[mlp_WORKSPACE_BYTES + 1], two[attention_WORKSPACE_BYTES + 1];
static float x[mlp_x_COUNT], p[mlp_result_COUNT], q[3][attention_q_COUNT], o[attention_result_COUNT];
int main(void) {
  for (int k = 0; k < mlp_x_COUNT; k++) x[k] = (float)(k % 13) / 13 - 0.5f;
  for (int k = 0; k < 3 * attention_q_COUNT; k++) (&q[0][0])[k] = (float)(k % 11) / 11 - 0.5f;
  if (mlp_call(x, p, one) || attention_call(q[0], q[1], q[2], o, two)) return 1;
  if (mlp_call(x, 0, one) != 1 || mlp_call(x, p, one + 4) != 2) return 2;
  for (int k = 0; k < mlp_result_COUNT; k++) printf("%.9g\\n", p[k]);
  for (int k = 0; k < attention_result_COUNT; k++) printf("%.9g\\n", o[k]);
  return 0;
}
"""


def _expected() -> np.ndarray:
    x = ((np.arange(16 * 32) % 13).astype(np.float32) / np.float32(13) - np.float32(0.5)).reshape(
        16, 32
    )
    q = ((np.arange(3 * 768) % 11).astype(np.float32) / np.float32(11) - np.float32(0.5)).reshape(
        3, 2, 24, 16
    )
    p = xe.evaluate(xe.parse_hlo(mlp_text()), x)
    o = xe.evaluate(xe.parse_hlo(ATTENTION), *q)
    return np.concatenate([np.asarray(p).ravel(), np.asarray(o).ravel()])


CASES = [
    ("x86_64-linux-gnu", None, "gcc", ()),
    ("x86_64-linux-gnu", "x86-64-v2", "gcc", ()),
    ("aarch64-linux-gnu", "neoverse-n1", "aarch64-linux-gnu-gcc", ("qemu-aarch64",)),
    ("aarch64-linux-gnu", "neoverse-v1", "aarch64-linux-gnu-gcc", ("qemu-aarch64", "-cpu", "max")),
    ("riscv64-linux-gnu", None, "riscv64-linux-gnu-gcc", ("qemu-riscv64",)),
]


@pytest.mark.parametrize(
    ("triple", "cpu", "compiler", "emulator"),
    CASES,
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_two_modules_in_one_program_give_the_expected_numbers(
    tmp_path: Path, triple: str, cpu: str | None, compiler: str, emulator: tuple[str, ...]
) -> None:
    need(compiler, *emulator[:1])
    xe.aot(mlp_text(), triple, cpu).save(tmp_path)
    xe.aot(ATTENTION, triple, cpu).save(tmp_path)
    (tmp_path / "main.c").write_text(MAIN)
    program = build(tmp_path, compiler, ["main.c"], ["mlp.o", "attention.o"], "-static", "-std=c11")
    got = np.array(output(*emulator, program).split(), np.float32)
    np.testing.assert_allclose(got, _expected(), rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("text", "name", "weights"),
    [(mlp_text(), "mlp", "embed"), (ATTENTION, "attention", "pass"), (mlp_text(), "mlp", "pass")],
)
def test_the_examples_build_without_warnings_in_c_and_cpp_and_are_small(
    tmp_path: Path, text: str, name: str, weights: str
) -> None:
    need("gcc", "g++", "strip")
    package = xe.aot(text, weights=weights)
    package.save(tmp_path)
    results = []
    for compiler, source, standard in (
        ("gcc", f"{name}_example.c", "-std=c11"),
        ("g++", f"{name}_example.cpp", "-std=c++11"),
    ):
        program = build(tmp_path, compiler, [source], [f"{name}.o"], standard, "-pedantic")
        subprocess.run(["strip", str(program)], check=True)
        embedded = sum([row.bytes for row in package.program.sections if row.kind == "data"])
        assert program.stat().st_size - embedded < 40_000
        done = subprocess.run(
            [str(program)], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        results.append(done.stdout)
    assert results[0] == results[1] and results[0].startswith("result: ")
    line = subprocess.run(
        package.build_line, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert line.returncode == 0 and line.stderr == ""


def test_cmake_builds_a_program_from_the_snippet(tmp_path: Path) -> None:
    need("cmake", "gcc", "make")
    xe.aot(ATTENTION).save(tmp_path / "generated")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.13)\nproject(use C)\ninclude(generated/attention.cmake)\n"
        "add_executable(use generated/attention_example.c)\ntarget_link_libraries(use PRIVATE attention)\n"
    )
    for command in (["cmake", "-S", ".", "-B", "build"], ["cmake", "--build", "build"]):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert output(tmp_path / "build" / "use").startswith("result:")


ODD = """HloModule odd
ENTRY e {
  file = c64[3,2]{0,1} parameter(0)
  k = (pred[4], bf16[2]) parameter(1)
  a = pred[4] get-tuple-element(k), index=0
  b = bf16[2] get-tuple-element(k), index=1
  n = pred[4] not(a)
  status = f32[0,4] parameter(2)
  q = f32[0,4] negate(status)
  ROOT printf = (c64[3,2]{0,1}, pred[4], bf16[2], f32[0,4]) tuple(file, n, b, q)
}
"""


@pytest.mark.parametrize(
    "text",
    [ODD, "HloModule none\nENTRY e {\n  ROOT c = s8[3] constant({1, -2, 3})\n}"],
    ids=["odd", "none"],
)
def test_examples_of_odd_buffers_build_without_warnings(tmp_path: Path, text: str) -> None:
    need("gcc", "g++")
    package = xe.aot(text)
    package.save(tmp_path)
    name = package.prefix
    first = output(
        build(tmp_path, "gcc", [f"{name}_example.c"], [f"{name}.o"], "-std=c11", "-pedantic")
    )
    assert first == output(
        build(tmp_path, "g++", [f"{name}_example.cpp"], [f"{name}.o"], "-std=c++11", "-pedantic")
    )
    assert ("result_1: 1 1 1 1" if name == "odd" else "result: 1 -2 3") in first


@pytest.mark.parametrize("name", ["round", "memcpy", "m_run", "m_program", "fmod"])
def test_instructions_may_have_the_names_of_functions(tmp_path: Path, name: str) -> None:
    need("gcc")
    text = f"""HloModule m
ENTRY e {{
  x = f64[64] parameter(0)
  r = f64[64] round-nearest-afz(x)
  {name} = f64[64] sort(r), dimensions={{0}}, to_apply=less
  ROOT t = (f64[64], f64[64]) tuple({name}, x)
}}"""
    less = "less {\n  a = f64[] parameter(0)\n  b = f64[] parameter(1)\n  ROOT l = pred[] compare(a, b), direction=LT\n}\n"
    xe.aot(text.replace("ENTRY", less + "ENTRY")).save(tmp_path)
    (tmp_path / "main.c").write_text(
        """
#include "m.h"
_Alignas(64) static unsigned char workspace[m_WORKSPACE_BYTES + 1];
int main(void) {
  double x[64], sorted[64], same[64];
  for (int k = 0; k < 64; k++) x[k] = 31.5 - k;
  int status = m_call(x, sorted, same, workspace);
  for (int k = 0; k < 64; k++) if (same[k] != x[k] || (k && sorted[k] < sorted[k - 1])) return 9;
  return status || sorted[0] != -32 || sorted[63] != 32;
}
"""
    )
    output(build(tmp_path, "gcc", ["main.c"], ["m.o"], "-std=c11"))


HALVES = """
#include "first.h"
#include "second.h"
#include <stdio.h>
static const uint16_t x[4] = {0x3C00, 0xC248, 0x0001, 0x7BFF};
int main(void) {
  uint16_t a[4], b[4];
  if (first_call(x, a, 0) || second_call(x, b, 0)) return 1;
  for (int k = 0; k < 4; k++) printf("%d %d\\n", a[k], b[k]);
  return 0;
}
"""


@pytest.mark.parametrize(
    ("triple", "compiler", "emulator"),
    [
        ("x86_64-linux-gnu", "gcc", ()),
        ("riscv64-linux-gnu", "riscv64-linux-gnu-gcc", ("qemu-riscv64",)),
    ],
)
def test_two_modules_may_bring_the_same_helpers(
    tmp_path: Path, triple: str, compiler: str, emulator: tuple[str, ...]
) -> None:
    """Conversions of half precision, which these CPUs have no instruction for."""
    need(compiler, *emulator)
    for name, opcode in (("first", "negate"), ("second", "sqrt")):
        text = (
            f"HloModule m\nENTRY e {{\n  x = f16[4] parameter(0)\n  ROOT y = f16[4] {opcode}(x)\n}}"
        )
        xe.aot(text, triple, prefix=name).save(tmp_path)
    (tmp_path / "main.c").write_text(HALVES)
    program = build(tmp_path, compiler, ["main.c"], ["first.o", "second.o"], "-static", "-std=c11")
    got = np.array(output(*emulator, program).split(), np.uint16).reshape(4, 2)
    x = np.array([0x3C00, 0xC248, 1, 0x7BFF], np.uint16).view(np.float16)
    np.testing.assert_array_equal(got[:, 0], (-x).view(np.uint16))
    with np.errstate(invalid="ignore"):
        want = np.sqrt(x)
    assert np.isnan(got[1, 1].view(np.float16))
    np.testing.assert_array_equal(got[[0, 2, 3], 1], want[[0, 2, 3]].view(np.uint16))


THREADS = """
#include "mlp.h"
#include <pthread.h>
#include <string.h>
static float x[mlp_x_COUNT], want[mlp_result_COUNT];
static void *work(void *wrong) {
  _Alignas(64) unsigned char workspace[mlp_WORKSPACE_BYTES + 1];
  float p[mlp_result_COUNT];
  for (int k = 0; k < 500; k++) {
    memset(workspace, k, sizeof workspace);
    if (mlp_call(x, p, workspace) || memcmp(p, want, sizeof p)) *(int *)wrong = 1;
  }
  return 0;
}
int main(void) {
  _Alignas(64) unsigned char workspace[mlp_WORKSPACE_BYTES + 1];
  pthread_t threads[4];
  int wrong[4] = {0};
  for (int k = 0; k < mlp_x_COUNT; k++) x[k] = (float)(k % 13) / 13;
  if (mlp_call(x, want, workspace)) return 1;
  for (int k = 0; k < 4; k++) pthread_create(&threads[k], 0, work, &wrong[k]);
  for (int k = 0; k < 4; k++) pthread_join(threads[k], 0);
  return wrong[0] + wrong[1] + wrong[2] + wrong[3];
}
"""


def test_several_threads_run_one_program(tmp_path: Path) -> None:
    need("gcc")
    xe.aot(mlp_text(), cpu="x86-64-v2").save(tmp_path)
    (tmp_path / "main.c").write_text(THREADS)
    output(build(tmp_path, "gcc", ["main.c"], ["mlp.o"], "-pthread", "-std=c11"))


def test_a_workspace_is_not_written_beyond_its_size(tmp_path: Path) -> None:
    need("gcc")
    package = xe.aot(ATTENTION)
    package.save(tmp_path)
    (tmp_path / "main.c").write_text(
        """
#include "attention.h"
#include <string.h>
static float q[attention_q_COUNT], o[attention_result_COUNT];
_Alignas(64) static unsigned char workspace[attention_WORKSPACE_BYTES + 64];
int main(void) {
  memset(workspace, 171, sizeof workspace);
  int status = attention_call(q, q, q, o, workspace);
  for (int k = 0; k < 64; k++) if (workspace[attention_WORKSPACE_BYTES + k] != 171) status = 9;
  return status;
}
"""
    )
    assert package.workspace_bytes > 0
    output(build(tmp_path, "gcc", ["main.c"], ["attention.o"], "-std=c11"))


LU = """HloModule lu
ENTRY e {
  a = f32[3,3] parameter(0)
  ROOT r = (f32[3,3], s32[3], s32[]) custom-call(a), custom_call_target="lapack_sgetrf_ffi"
}"""
LU_MAIN = """
#include "lu.h"
#include <stdio.h>
void scipy_sgetrf_(int *, int *, float *, int *, int *, int *);
void sgetrf_(int *m, int *n, float *a, int *lda, int *pivots, int *info) { scipy_sgetrf_(m, n, a, lda, pivots, info); }
_Alignas(64) static unsigned char memory[lu_WORKSPACE_BYTES];
int main(void) {
  float a[9] = {1, 2, 3, 4, 5, 6, 7, 8, 10}, factors[9];
  int32_t pivots[3], info;
  if (lu_call(a, factors, pivots, &info, memory) || info) return 1;
  for (int k = 0; k < 9; k++) printf("%.9g\\n", factors[k]);
  return 0;
}
"""


def test_an_object_calls_the_lapack_that_it_is_linked_with(tmp_path: Path) -> None:
    need("gcc")
    with pytest.raises(AheadOfTimeError, match="calls no library") as refused:
        xe.aot(LU)
    assert "libraries=True" in refused.value.hint
    package = xe.aot(LU, libraries=True)
    assert package.program.needs == ("sgetrf_",) and package.build_line.endswith("-lopenblas")
    package.save(tmp_path)
    (tmp_path / "main.c").write_text(LU_MAIN)
    library = blas_library_path()
    program = build(
        tmp_path,
        "gcc",
        ["main.c"],
        ["lu.o", str(library)],
        "-std=c11",
        f"-Wl,-rpath,{library.parent}",
    )
    a = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 10]], np.float32)
    np.testing.assert_allclose(
        np.array(output(program).split(), np.float32), np.ravel(xe.evaluate(LU, a)[0]), rtol=1e-5
    )
