"""`session.devices.compare_partitioning`: collectives, bytes and shardings beside real XLA's."""

from __future__ import annotations

import gzip
import json

import pytest

import xla_explorer as xe
from tests.support.corpora import SHARED
from xla_explorer.explorer.devices.devices import Devices
from xla_explorer.explorer.devices.partitioning_comparison import compared_partitioning
from xla_explorer.foundation.diagnostic import XlaExplorerError

PROGRAMS = SHARED / "spmd" / "programs"
MLP = """HloModule mlp
ENTRY main {
  x = f32[64,128] parameter(0), metadata={op_name="x"}
  w = f32[128,256] parameter(1), metadata={op_name="w"}
  ROOT y = f32[64,256] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="layer/dot"}
}"""


def devices() -> Devices:
    shardings = {"x": ("d", None), "w": ("d", None)}
    return Devices(xe.sharding.annotate(xe.parse_hlo(MLP), {"d": 8}, shardings))


@pytest.mark.long
def test_real_xla_partitions_the_same_program() -> None:
    pytest.importorskip("jax")
    shardings = {"x": ("d", None), "w": ("d", None)}
    found = xe.sharding.compare_partitioning(MLP, {"d": 8}, shardings)
    (row,) = found.rows
    assert row.operation == "layer/dot" and row.xla == "all-gather"
    assert row.xla_bytes == 128 * 256 * 4 * 7 / 8
    assert found.our_bytes <= found.xla_bytes and found.version.count(".") >= 2
    assert found.values >= 2 and not found.shardings
    assert found.our_flops == found.xla_flops


@pytest.mark.long
def test_what_xla_refuses_is_an_error_of_one_sentence() -> None:
    pytest.importorskip("jax")
    effect = 'custom-call(), custom_call_target="mine", custom_call_has_side_effect=true'
    text = MLP.replace("ROOT y", f"c = f32[] {effect}\n  ROOT y")
    module = xe.sharding.annotate(xe.parse_hlo(text), {"d": 2}, {"x": ("d", None)})
    with pytest.raises(XlaExplorerError, match="XLA cannot partition the program"):
        Devices(module).compare_partitioning()


def test_an_unknown_propagation_is_refused() -> None:
    with pytest.raises(XlaExplorerError, match="no propagation 'alpa'"):
        devices().compare_partitioning("alpa")


SAME = [
    "batch_norm_grad", "batched_matmul", "conflicting_operands", "explicit_mode",
    "fsdp_mlp_train", "issue_full_rematerialisation", "matmul_2d", "permuted_mesh",
]  # fmt: skip


@pytest.mark.skipif(not PROGRAMS.exists(), reason=f"{PROGRAMS} is absent")
@pytest.mark.parametrize("name", SAME)
def test_the_policy_of_xla_sends_what_xla_sends(name: str) -> None:
    record = json.loads(gzip.decompress((PROGRAMS / f"{name}.shardy.json.gz").read_bytes()))
    ours = Devices(xe.parse_hlo(record["hlo_before"]))
    in_order = ours.on(policy="xla")
    stages = xe.parse_hlo(record["hlo_before_spmd"]), xe.parse_hlo(record["hlo_after_spmd"])
    beside = compared_partitioning(in_order.placed, in_order.placed, *stages, ("", "xla", ()))
    assert beside.same, str(beside)
    assert not beside.shardings and beside.values
    cheaper = compared_partitioning(ours.placed, in_order.placed, *stages, ("", "cost", ()))
    assert cheaper.our_bytes <= cheaper.xla_bytes
    assert all(row.reason for row in cheaper.rows if row.ours != row.xla)
