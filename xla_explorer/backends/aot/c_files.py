"""Write the files beside an ahead-of-time object: header, C and C++ examples, CMake snippet.

A further file belongs into `companion_files`.
"""

from __future__ import annotations

from xla_explorer.backends.aot.ahead_of_time import AheadOfTimeProgram, Buffer
from xla_explorer.backends.aot.c_names import c_elements, c_type, type_remark
from xla_explorer.backends.aot.program_entry import ALIGNMENT, MISALIGNED, NULL_POINTER
from xla_explorer.compiler.codegen.lapack import LAPACK_SYMBOLS

# Functions of libm. All other functions that an object may call are in the C library or in the
# compiler's runtime library.
_MATHEMATICS = frozenset(
    f"{name}{suffix}"
    for name in ("floor", "ceil", "round", "trunc", "fmod", "sqrt", "fma")
    for suffix in ("", "f")
)


def needs_linear_algebra(program: AheadOfTimeProgram) -> bool:
    """Return True if the object calls CBLAS or LAPACK (OpenBLAS has both, with 32-bit integers)."""
    return any(name.startswith("cblas_") or name in LAPACK_SYMBOLS for name in program.needs)


def needs_mathematics(program: AheadOfTimeProgram) -> bool:
    """Return True if the program must be linked with -lm."""
    return any(name in _MATHEMATICS for name in program.needs)


def _count(buffer: Buffer) -> int:
    return buffer.shape.element_count * c_elements(buffer.shape.element_type)


def _constant(program: AheadOfTimeProgram, buffer: Buffer, what: str) -> str:
    return f"{program.prefix}_{buffer.name}_{what}"


def _described(buffer: Buffer) -> str:
    shape = buffer.shape
    text = f"{shape.element_type.name}[{', '.join(map(str, shape.dimensions))}]"
    if not shape.layout.is_default and shape.rank > 1:
        text += (
            f", in memory with dimension {shape.layout.minor_to_major[0]} fastest: minor to "
            f"major {list(shape.layout.minor_to_major)}"
        )
    remark = type_remark(shape.element_type)
    return text + (f" ({remark})" if remark else "")


def _origin(buffer: Buffer) -> str:
    return f"%{buffer.instruction}" + (f", element {list(buffer.leaf)}" if buffer.leaf else "")


def header(program: AheadOfTimeProgram) -> str:
    """Write `<prefix>.h`, for C99 and C++."""
    p = program.prefix
    guard = f"XLA_EXPLORER_{p.upper()}_H"
    lines = [
        (
            f"/* HLO module {_comment(program.module.name)}, compiled ahead of time for "
            f"{_comment(program.description.triple)}"
        )
        + (f", {program.description.cpu}" if program.description.cpu else "")
        + ".",
        " *",
        (
            f" * {p}_run may run on several threads at once if each has its own workspace. It "
            "allocates no memory, has no state, and"
        ),
        " * writes only to the outputs and the workspace. Inputs and outputs must not overlap.",
        (
            " * Needs from the C library and the compiler's runtime: "
            f"{', '.join(program.needs) or 'nothing'}."
        ),
        f" * Build: {build_line(program)}",
        " */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        "#include <stddef.h>",
        "#include <stdint.h>",
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        f"#define {p}_INPUTS {len(program.inputs)}",
        f"#define {p}_OUTPUTS {len(program.outputs)}",
        f"#define {p}_ALIGNMENT {ALIGNMENT} /* of workspace{' and weights' if program.weights else ''}, in bytes */",
        f"#define {p}_WORKSPACE_BYTES {program.workspace_bytes} /* all the memory that a run needs besides inputs and outputs */",
    ]
    if program.weights:
        lines.append(
            f"#define {p}_WEIGHTS_BYTES {len(program.weight_bytes)} /* the contents of {p}.weights */"
        )
    for what, buffers in (("input", program.inputs), ("output", program.outputs)):
        for number, buffer in enumerate(buffers):
            lines += [
                "",
                f"/* {what} {number}: {_described(buffer)}; {_comment(_origin(buffer))} */",
                f"#define {_constant(program, buffer, 'COUNT')} {_count(buffer)} /* of {c_type(buffer.shape.element_type)} */",
                f"#define {_constant(program, buffer, 'BYTES')} {buffer.shape.byte_size}",
            ]
    weights = "const void *weights, " if program.weights else ""
    aligned = "workspace or weights are" if program.weights else "workspace is"
    lines += [
        "",
        (
            f"/* Returns 0 on success, {NULL_POINTER} if a pointer is null, {MISALIGNED} if "
            f"{aligned} not aligned."
        ),
        " * Pointers of empty arrays are not read. */",
        f"int {p}_run(const void *const *inputs, void *const *outputs, {weights}void *workspace);",
        "",
        "/* Calls the function with typed buffers. */",
        *_typed_call(program),
        "",
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "",
        f"#endif /* {guard} */",
    ]
    return "\n".join(lines) + "\n"


def _comment(text: str) -> str:
    return text.replace("*/", "* /").replace("\n", " ")


def _typed_call(program: AheadOfTimeProgram) -> list[str]:
    p = program.prefix
    parameters = [f"const {c_type(b.shape.element_type)} *{b.name}" for b in program.inputs]
    parameters += [f"{c_type(b.shape.element_type)} *{b.name}" for b in program.outputs]
    parameters += ["const void *weights"] if program.weights else []
    parameters += ["void *workspace"]
    inputs, outputs = [
        ", ".join([b.name for b in buffers]) or "0" for buffers in (program.inputs, program.outputs)
    ]
    passed = (
        "inputs, outputs, weights, workspace" if program.weights else "inputs, outputs, workspace"
    )
    return [
        f"static inline int {p}_call({', '.join(parameters)}) {{",
        f"  const void *const inputs[] = {{{inputs}}};",
        f"  void *const outputs[] = {{{outputs}}};",
        f"  return {p}_run({passed});",
        "}",
    ]


def _example_body(program: AheadOfTimeProgram, align: str) -> list[str]:
    """Return static buffers, a call, and the output of the first values of each result.

    align: the alignment specifier of a static buffer.
    """
    p = program.prefix
    static = []
    for name, buffers in (("in", program.inputs), ("out", program.outputs)):
        # Members of a struct, so that they do not hide functions of the C library.
        counts = [_constant(program, b, "COUNT") + ("" if _count(b) else " + 1") for b in buffers]
        members = [
            f"  {c_type(b.shape.element_type)} {b.name}[{n}];"
            for b, n in zip(buffers, counts, strict=True)
        ]
        static += ["static struct {", *members, f"}} {name};"] if buffers else []
    if program.weights:
        static.append(f"{align} static unsigned char weights[{p}_WEIGHTS_BYTES];")
    static.append(f"{align} static unsigned char workspace[{p}_WORKSPACE_BYTES + 1];")
    body = ["int main(void) {"]
    if program.weights:
        body += [
            f'  FILE *file = fopen("{p}.weights", "rb");',
            "  if (!file || fread(weights, sizeof weights, 1, file) != 1) {",
            f'    fprintf(stderr, "cannot read {p}.weights\\n");',
            "    return 1;",
            "  }",
            "  fclose(file);",
        ]
    for b in program.inputs:
        if b.shape.element_type.name in ("f32", "f64", "c64", "c128") and _count(b):
            kind = c_type(b.shape.element_type)
            body.append(
                f"  for (size_t k = 0; k < {_constant(program, b, 'COUNT')}; k++) in.{b.name}[k] "
                f"= ({kind})(k % 7) / 7;"
            )
    names = [*[f"in.{b.name}" for b in program.inputs], *[f"out.{b.name}" for b in program.outputs]]
    names += ["weights", "workspace"] if program.weights else ["workspace"]
    body += [
        f"  int status = {p}_call({', '.join(names)});",
        f'  if (status) fprintf(stderr, "{p}_call returned %d\\n", status);',
    ]
    for b in filter(_count, program.outputs):
        shown = "%g" if c_type(b.shape.element_type) in ("float", "double") else "%lld"
        cast = "double" if shown == "%g" else "long long"
        body += [
            f'  printf("{b.name}:");',
            (
                f"  for (size_t k = 0; k < {_constant(program, b, 'COUNT')} && k < 8; k++) "
                f'printf(" {shown}", ({cast})out.{b.name}[k]);'
            ),
            '  printf("\\n");',
        ]
    return [*static, "", *body, "  return status;", "}", ""]


def c_example(program: AheadOfTimeProgram) -> str:
    """Write `<prefix>_example.c`, C11 (for `_Alignas`)."""
    lines = [
        f"/* Build: {build_line(program)} */",
        f'#include "{program.prefix}.h"',
        "",
        "#include <stdio.h>",
        "",
    ]
    return "\n".join([*lines, *_example_body(program, f"_Alignas({program.prefix}_ALIGNMENT)")])


def cpp_example(program: AheadOfTimeProgram) -> str:
    """Write `<prefix>_example.cpp`, C++11."""
    lines = [
        f"// Build: {build_line(program, cpp=True)}",
        f'#include "{program.prefix}.h"',
        "",
        "#include <cstdio>",
        "",
    ]
    return "\n".join([*lines, *_example_body(program, f"alignas({program.prefix}_ALIGNMENT)")])


# Compilers for Linux and for bare metal; on other systems it is `cc`.
_COMPILERS = {
    "x86_64": "gcc",
    "aarch64": "aarch64-linux-gnu-gcc",
    "riscv64": "riscv64-linux-gnu-gcc",
    "hexagon": "hexagon-clang",
}


def build_line(program: AheadOfTimeProgram, *, cpp: bool = False) -> str:
    """Return the command that builds the example."""
    p = program.prefix
    if program.description.architecture.startswith("wasm"):
        return f"wasm-ld --no-entry --export={p}_run --export=__heap_base {p}.o -o {p}.wasm"
    unusual = not any(system in program.description.triple for system in ("linux", "-elf"))
    compiler = "cc" if unusual else _COMPILERS.get(program.description.architecture, "cc")
    if cpp:
        compiler = {"cc": "c++"}.get(
            compiler,
            compiler.removesuffix("gcc") + "g++" if compiler.endswith("gcc") else compiler + "++",
        )
    libraries = (" -lopenblas" if needs_linear_algebra(program) else "") + (
        " -lm" if needs_mathematics(program) else ""
    )
    return f"{compiler} -O2 {p}_example.{'cpp' if cpp else 'c'} {p}.o -o {p}_example{libraries}"


def cmake_snippet(program: AheadOfTimeProgram) -> str:
    """Write `<prefix>.cmake`: a target to link with."""
    p = program.prefix
    mathematics = (" openblas" if needs_linear_algebra(program) else "") + (
        " m" if needs_mathematics(program) else ""
    )
    lines = [
        f"# include(path/to/{p}.cmake), then: target_link_libraries(your_program PRIVATE {p})",
        f"add_library({p} INTERFACE)",
        f"target_include_directories({p} INTERFACE ${{CMAKE_CURRENT_LIST_DIR}})",
        f"target_link_libraries({p} INTERFACE ${{CMAKE_CURRENT_LIST_DIR}}/{p}.o{mathematics})",
    ]
    return "\n".join(lines) + "\n"


def companion_files(program: AheadOfTimeProgram) -> dict[str, bytes]:
    """Return every file of the program by name."""
    p = program.prefix
    files = {f"{p}.o": program.object_bytes, f"{p}.h": header(program).encode("utf-8", "replace")}
    if program.weights:
        files[f"{p}.weights"] = program.weight_bytes
    if not program.description.architecture.startswith("wasm"):
        files[f"{p}_example.c"] = c_example(program).encode("utf-8", "replace")
        files[f"{p}_example.cpp"] = cpp_example(program).encode("utf-8", "replace")
        files[f"{p}.cmake"] = cmake_snippet(program).encode()
    return files
