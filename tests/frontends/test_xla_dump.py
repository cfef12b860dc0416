"""XLA's dump folders: index, steps, matched instructions, and a real one if jax is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import xla_explorer as xe
from tests.frontends.hlo_proto.messages import message
from tests.support.pace import processor_seconds
from xla_explorer.frontends.hlo_proto import schema
from xla_explorer.frontends.xla_dump import DumpError
from xla_explorer.frontends.xla_dump.buffer_assignment import parse_buffer_assignment

BEFORE = """HloModule jit_f
ENTRY main {
  x = f32[8] parameter(0)
  zero = f32[] constant(0)
  zeros = f32[8] broadcast(zero), dimensions={}
  sum = f32[8] add(x, zeros)
  e = f32[8] exponential(sum)
  ROOT r = f32[8] multiply(e, e)
}"""
SIMPLIFIED = """HloModule jit_f
ENTRY main {
  x = f32[8] parameter(0)
  e = f32[8] exponential(x)
  ROOT r = f32[8] multiply(e, e)
}"""
FUSED = """HloModule jit_f
fused_computation {
  param_0 = f32[8] parameter(0)
  e = f32[8] exponential(param_0)
  ROOT r.1 = f32[8] multiply(e, e)
}
ENTRY main {
  x = f32[8] parameter(0)
  ROOT r_fusion = f32[8] fusion(x), kind=kLoop, calls=fused_computation
}"""
BUFFERS = """BufferAssignment:
allocation 0: size 32, parameter 0, shape |f32[8]| at ShapeIndex {}:
 value: <1 x @0> (size=32,offset=0): f32[8]{0}
allocation 1: size 64, maybe-live-out:
 value: <2 r_fusion @0> (size=32,offset=16): f32[8]{0}
 value: <3 tuple.3{1} @0> (size=8,offset=0): f32[2]{0}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {
        "module_0003.jit_f.before_optimizations.txt": BEFORE,
        "module_0003.jit_f.0000.simplification.after_pipeline-start.before_algsimp.txt": BEFORE,
        "module_0003.jit_f.0001.simplification.after_algsimp.before_dce.txt": SIMPLIFIED,
        "module_0003.jit_f.0002.HLO_passes_after_layout_assignment.after_fusion.before_fusion-wrapper.txt": FUSED,
        "module_0003.jit_f.cpu_after_optimizations.txt": FUSED,
        "module_0003.jit_f.cpu_after_optimizations-buffer-assignment.txt": BUFFERS,
        "module_0003.jit_f.r_fusion_kernel_module.ir-no-opt.ll": "define void @r_fusion() { ret void }\n",
        "module_0003.jit_f.r_fusion_kernel_module.ir-with-opt.ll": "define void @r_fusion() { ret void } ; optimised\n",
        "module_0001.jit_convert.before_optimizations.txt": "HloModule jit_convert\nENTRY e { ROOT x = f32[] parameter(0) }",
        "notes.md": "not a dump file",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_the_index_reads_no_file(folder: Path) -> None:
    (folder / "module_0009.jit_big.before_optimizations.txt").write_text("this is no HLO " * 1000)
    dump = xe.load(folder)
    assert list(dump.modules["name"]) == ["jit_convert", "jit_f", "jit_big"]
    assert dump.folder.module("f").number == 3, "jit_ may be left out"
    with pytest.raises(DumpError, match="did you mean jit_convert"):
        dump["jit_conver"]


def test_steps_are_what_changed_and_instructions_keep_their_identity(folder: Path) -> None:
    session = xe.load(folder).session("jit_f")
    assert [s.name for s in session.passes.record.steps] == ["algsimp", "fusion"]
    ids = {i.name: i.id for i in session.passes[0].module.instructions()}
    assert (
        session.passes[1].diff.removed == {ids["zero"], ids["zeros"], ids["sum"]}
        and not session.passes[1].diff.added
    )
    final = {i.name: i.id for i in session.module.instructions()}
    assert final["e"] == ids["e"] and final["x"] == ids["x"], "also when it has moved into a fusion"
    assert final["r_fusion"] not in ids.values()
    assert "exponential" in session.passes[1].text_diff()
    assert "-  sum" in session.passes[1].text_diff().replace("%", "")


def test_it_is_explored_as_our_own_compiles(folder: Path, tmp_path: Path) -> None:
    session = xe.load(folder).session()
    assert session.backend == "xla-dump" and "optimised" in session.stage("llvm-ir-optimized").text
    page = tmp_path / "page.html"
    session.save(page)
    assert "r_fusion" in page.read_text()
    with pytest.raises(xe.XlaExplorerError, match="a dump that XLA wrote"):
        session()


def test_buffer_assignment(folder: Path) -> None:
    rows = parse_buffer_assignment(BUFFERS)
    assert [(r.allocation, r.instruction, r.shape_index, r.size, r.offset) for r in rows] == [
        (0, "x", "", 32, 0),
        (1, "r_fusion", "", 32, 16),
        (1, "tuple.3", "{1}", 8, 0),
    ]
    assert rows[0].role.startswith("parameter 0")
    assert list(xe.load(folder).buffers()["allocation_size"]) == [32, 64, 64]


def test_a_folder_without_a_dump_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(DumpError, match="--xla_dump_to"):
        xe.load(tmp_path)


TRAINING_STEP = """
import jax, jax.numpy as jnp
def block(p, x):
    q, k, v = [x @ p[n] for n in "qkv"]
    a = jax.nn.softmax(q @ jnp.swapaxes(k, -1, -2) / 8.0) @ v
    y = x + a @ p["o"]
    return y + jax.nn.gelu(y @ p["up"]) @ p["down"]
def loss(layers, x):
    for p in layers:
        x = block(p, x)
    return jnp.mean(x * x)
def step(layers, x):
    return jax.tree_util.tree_map(lambda p, g: p - 0.1 * g, layers, jax.grad(loss)(layers, x))
layers = [{"q": jnp.ones((64, 64)), "k": jnp.ones((64, 64)), "v": jnp.ones((64, 64)), "o": jnp.ones((64, 64)),
           "up": jnp.ones((64, 256)), "down": jnp.ones((256, 64))} for _ in range(4)]
jax.jit(step).lower(layers, jnp.ones((2, 16, 64))).compile()
"""


@pytest.mark.long
@pytest.mark.jax
def test_a_real_training_step_opens_quickly_and_compares_with_ours(tmp_path: Path) -> None:
    pytest.importorskip("jax", reason="needs the extra `jax`")
    flags = f"--xla_dump_to={tmp_path} --xla_dump_hlo_as_text --xla_dump_hlo_pass_re=.*"
    subprocess.run(
        [sys.executable, "-c", TRAINING_STEP],
        check=True,
        env={**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
    )
    started = time.process_time()
    dump = xe.load(tmp_path)
    session = dump.session("jit_step")
    seconds = time.process_time() - started
    assert seconds < processor_seconds(3), f"opening took {seconds:.1f} s of processor time"
    names = [s.name for s in session.passes.record.steps]
    assert len(names) > 5 and "fusion" in names
    # Most instructions survive from text to text under their identity.
    for step in session.passes.record.steps:
        difference = session.passes[step.number].diff
        assert len(difference.added) <= 0.8 * step.instructions_after, step
    ours = xe.compile(session.source, backend="cpu", verify=False)
    table = session.compare(ours).to_frame()
    assert set(table.columns) == {"what", "this", "other"} and "kernels" in set(table["what"])


def test_a_dump_names_its_sessions(tmp_path: Path) -> None:
    (tmp_path / "module_0001.jit_f.before_optimizations.txt").write_text(
        "HloModule jit_f\nENTRY e { ROOT x = f32[2] parameter(0) }\n"
    )
    dump = xe.load(tmp_path)
    assert not hasattr(dump, "graph") and not hasattr(dump, "nonsense")
    with pytest.raises(AttributeError, match=r"dump\.session\(\)\.decisions"):
        _ = dump.decisions


def test_the_main_program_has_the_most_instructions_not_the_largest_constant(
    tmp_path: Path,
) -> None:
    constant = ", ".join(["1"] * 5000)
    (tmp_path / "module_0001.jit_lambda.before_optimizations.txt").write_text(
        f"HloModule jit_lambda\nENTRY e {{ ROOT c = s32[5000] constant({{{constant}}}) }}\n"
    )
    lines = "\n".join(f"  v{k + 1} = f32[2] add(v{k}, v{k})" for k in range(20))
    (tmp_path / "module_0002.jit_step.before_optimizations.txt").write_text(
        f"HloModule jit_step\nENTRY e {{\n  v0 = f32[2] parameter(0)\n{lines}\n  ROOT r = f32[2] negate(v20)\n}}\n"
    )
    assert xe.load(tmp_path).folder.module().name == "jit_step"


def test_the_main_program_has_the_most_work_not_the_most_instructions(tmp_path: Path) -> None:
    lines = "\n".join(f"  v{k + 1} = u32[2] add(v{k}, v{k})" for k in range(20))
    (tmp_path / "module_0003.jit_init.before_optimizations.txt").write_text(
        f"HloModule jit_init\nENTRY e {{\n  v0 = u32[2] parameter(0)\n{lines}\n  ROOT r = u32[2] negate(v20)\n}}\n"
    )
    (tmp_path / "module_0001.jit_step.before_optimizations.txt").write_text(
        "HloModule jit_step\nENTRY e {\n  x = f32[64,64] parameter(0)\n"
        "  ROOT d = f32[64,64] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n"
    )
    assert xe.load(tmp_path).folder.module().name == "jit_step"


FRAMES = """FileNames
1 "a.py"

FunctionNames
1 "<module>"
2 "main"
{own}
FileLocations
1 {{file_name_id=1 function_name_id=1 line=1 end_line=1 column=0 end_column=1}}

StackFrames
1 {{file_location_id=1 parent_frame_id=1}}
"""


@pytest.mark.parametrize(
    ("function", "module"),
    [("main.<locals>.step", "jit_step"), ("Model.apply", "jit_apply"), ("<lambda>", "jit__lambda")],
)
def test_the_main_program_is_called_after_a_function_of_the_users_files(
    tmp_path: Path, function: str, module: str
) -> None:
    """Helpers that the framework compiles on the way may have more work."""
    for number, name, own, size in (
        (2, "jit__normal", "", 512),
        (4, module, f'3 "{function}"\n', 4),
        (6, "jit_matmul", "", 256),
    ):
        (tmp_path / f"module_000{number}.{name}.before_optimizations.txt").write_text(
            f"HloModule {name}\n\n{FRAMES.format(own=own)}\nENTRY e {{\n  x = f32[{size},{size}] parameter(0)\n  ROOT d = f32[{size},{size}] negate(x)\n}}\n"
        )
    dump = xe.load(tmp_path)
    with pytest.warns(
        UserWarning,
        match=rf"{module} \(4\) was taken of 3 modules: a function of your files is called so; the others are jit__normal \(2\), jit_matmul \(6\)",
    ):
        assert dump.session().module.name == module
    assert (
        dump.session("jit_matmul").module.name == "jit_matmul"
        and dump.session(2).module.name == "jit__normal"
    )
    assert f"main {module} (a function of your files" in str(dump)


def test_of_several_own_functions_the_one_with_the_most_work_is_the_main_program(
    tmp_path: Path,
) -> None:
    for number, name, size in ((1, "jit_init", 8), (2, "jit_step", 64), (3, "jit__normal", 512)):
        own = f'3 "{name.removeprefix("jit_")}"\n' if number < 3 else ""
        (tmp_path / f"module_000{number}.{name}.before_optimizations.txt").write_text(
            f"HloModule {name}\n\n{FRAMES.format(own=own)}\nENTRY e {{\n  x = f32[{size}] parameter(0)\n  ROOT d = f32[{size}] negate(x)\n}}\n"
        )
    folder = xe.load(tmp_path).folder
    assert (
        folder.main[0].name == "jit_step"
        and "of 2 such the one with the most work" in folder.main[1]
    )


def test_a_number_that_ends_a_name_stays(tmp_path: Path) -> None:
    for kind in (
        "before_optimizations.txt",
        "0001.pipe.after_dce.before_cse.txt",
        "ir-no-opt.ll",
        "a_kernel.ir-with-opt.ll",
        "18.ir-no-opt.ll",
    ):
        (tmp_path / f"module_0007.a_inference_train_677__.18.{kind}").write_text(
            "HloModule m\nENTRY e { ROOT x = f32[] parameter(0) }\n"
        )
    module = xe.load(tmp_path).folder.module()
    assert module.name == "a_inference_train_677__.18" and module.hlo_files == 2
    assert set(module.llvm) == {("", "no"), ("a_kernel", "with"), ("18", "no")}


PROTO_OF_F = message(
    schema.MODULE,
    name="jit_f",
    entry_computation_id=1,
    computations=[
        message(
            schema.COMPUTATION,
            name="main",
            id=1,
            root_id=2,
            instructions=[
                message(
                    schema.INSTRUCTION,
                    name="x",
                    opcode="parameter",
                    id=1,
                    shape=message(schema.SHAPE, element_type=11),
                ),
                message(
                    schema.INSTRUCTION,
                    name="r",
                    opcode="negate",
                    id=2,
                    operand_ids=[1],
                    shape=message(schema.SHAPE, element_type=11),
                ),
            ],
        )
    ],
)


def test_a_dump_of_protos_is_read(tmp_path: Path) -> None:
    for kind in (
        "before_optimizations",
        "0001.pipe.after_dce.before_cse",
        "cpu_after_optimizations",
    ):
        (tmp_path / f"module_0000.jit_f.{kind}.hlo.pb").write_bytes(PROTO_OF_F)
    dump = xe.load(tmp_path)
    assert dump.folder.module().hlo_files == 3
    assert dump.session().module.entry.root.name == "r"


def test_of_a_text_and_a_proto_the_text_is_read(tmp_path: Path) -> None:
    for kind in ("before_optimizations", "0001.pipe.after_dce.before_cse"):
        (tmp_path / f"module_0000.jit_f.{kind}.hlo.pb").write_bytes(b"not read")
        (tmp_path / f"module_0000.jit_f.{kind}.txt").write_text(BEFORE)
    module = xe.load(tmp_path).folder.module()
    assert (
        module.hlo_files == 2
        and {p.path.suffix for p in module.passes} == {".txt"}
        and module.before.suffix == ".txt"
    )
