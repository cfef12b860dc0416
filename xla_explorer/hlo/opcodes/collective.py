"""Rows of the collective family: exchanges between devices, transfers with the host, and device numbers.

Source: StableHLO sections of the same names; xla/service/shape_inference.cc; xla/service/hlo_verifier.cc;
hlo_parser.cc.
"""

from __future__ import annotations

from xla_explorer.hlo.opcodes.constraints import collectives, signatures, stated_shapes
from xla_explorer.hlo.opcodes.shape_rules import collective as rules
from xla_explorer.hlo.opcodes.spec import Constraint, Family, OpcodeSpec, ShapeRule, Trait

_EXPENSIVE = frozenset({Trait.EXPENSIVE})
_ASYNCHRONOUS = frozenset({Trait.ASYNCHRONOUS, Trait.EXPENSIVE, Trait.SIDE_EFFECT})
_TRANSFER = frozenset({Trait.SIDE_EFFECT, Trait.EXPENSIVE})
_GROUPS = ("channel_id", "replica_groups", "constrain_layout", "use_global_device_ids")
_PERMUTE = ("channel_id", "source_target_pairs", "slice_sizes")


def _row(
    name: str,
    arity: int | None,
    summary: str,
    source: str,
    rule: ShapeRule | None,
    *,
    attributes: tuple[str, ...] = (),
    required: tuple[str, ...] = (),
    called: tuple[str, ...] = (),
    traits: frozenset[Trait] = _EXPENSIVE,
    infers_in_text: bool = False,
    constraints: tuple[Constraint, ...] = (),
) -> OpcodeSpec:
    return OpcodeSpec(
        name,
        family=Family.COLLECTIVE,
        arity=arity,
        summary=summary,
        source=source,
        shape_rule=rule,
        attributes=attributes,
        required=required,
        called=called,
        traits=traits,
        infers_in_text=infers_in_text,
        constraints=constraints,
    )


ROWS: tuple[OpcodeSpec, ...] = (
    _row(
        "all-gather",
        None,
        "Concatenates the operands of a group along one dimension.",
        "StableHLO all_gather",
        None,
        attributes=(*_GROUPS, "dimensions"),
        required=("dimensions",),
        constraints=(
            collectives.replica_groups,
            collectives.gathered,
        ),
    ),
    _row(
        "all-gather-start",
        None,
        "Begins an all-gather; gives (operand, result).",
        "hlo_verifier.cc HandleAllGatherStart",
        None,
        attributes=(*_GROUPS, "dimensions"),
        required=("dimensions",),
        traits=_ASYNCHRONOUS,
        constraints=(
            collectives.replica_groups,
            collectives.gather_started,
        ),
    ),
    _row(
        "all-gather-done",
        1,
        "Waits for an all-gather.",
        "hlo_verifier.cc HandleAllGatherDone",
        rules.second_element,
        traits=_ASYNCHRONOUS,
    ),
    _row(
        "all-reduce",
        None,
        "Combines the operands of a group elementwise.",
        "StableHLO all_reduce",
        rules.same_as_operands,
        attributes=_GROUPS,
        called=("to_apply",),
        constraints=(
            collectives.replica_groups,
            signatures.combiner,
        ),
    ),
    _row(
        "all-reduce-start",
        None,
        "Begins an all-reduce.",
        "hlo_verifier.cc HandleAllReduceStart",
        rules.same_as_operands,
        attributes=_GROUPS,
        called=("to_apply",),
        traits=_ASYNCHRONOUS,
        constraints=(
            collectives.replica_groups,
            signatures.combiner,
        ),
    ),
    _row(
        "all-reduce-done",
        1,
        "Waits for an all-reduce.",
        "hlo_verifier.cc HandleAllReduceDone",
        rules.same_as_operands,
        traits=_ASYNCHRONOUS,
    ),
    _row(
        "reduce-scatter",
        None,
        "Combines the operands of a group and gives each device its block.",
        "StableHLO reduce_scatter",
        None,
        attributes=(*_GROUPS, "dimensions"),
        required=("dimensions",),
        called=("to_apply",),
        constraints=(
            collectives.replica_groups,
            collectives.scattered,
            signatures.combiner,
        ),
    ),
    _row(
        "all-to-all",
        None,
        "Each device sends block i to device i of its group.",
        "StableHLO all_to_all",
        rules.all_to_all,
        attributes=("channel_id", "replica_groups", "constrain_layout", "dimensions"),
        constraints=(collectives.replica_groups, collectives.blocks_exchanged),
    ),
    _row(
        "ragged-all-to-all",
        6,
        "An all-to-all with block offsets and sizes as operands.",
        "shape_inference.cc InferRaggedAllToAllShape",
        rules.ragged_all_to_all,
        attributes=("channel_id", "replica_groups"),
        constraints=(collectives.replica_groups,),
    ),
    _row(
        "collective-permute",
        None,
        "Each source sends its operand to its target; who gets nothing has zeros.",
        "StableHLO collective_permute",
        rules.collective_permute,
        attributes=_PERMUTE,
        required=("source_target_pairs",),
        constraints=(collectives.source_target_pairs,),
    ),
    _row(
        "collective-permute-start",
        None,
        "Begins a collective-permute; gives (operand, result, context...).",
        "hlo_verifier.cc HandleCollectivePermuteStart",
        None,
        attributes=_PERMUTE,
        required=("source_target_pairs",),
        traits=_ASYNCHRONOUS,
        constraints=(
            collectives.source_target_pairs,
            collectives.permute_started,
        ),
    ),
    _row(
        "collective-permute-done",
        1,
        "Waits for a collective-permute.",
        "hlo_verifier.cc HandleCollectivePermuteDone",
        rules.second_element,
        traits=_ASYNCHRONOUS,
    ),
    _row(
        "collective-broadcast",
        None,
        "Every device of a group gets the operand of its first device.",
        "StableHLO collective_broadcast",
        rules.same_as_operands,
        attributes=("channel_id", "replica_groups", "constrain_layout"),
        constraints=(collectives.replica_groups,),
    ),
    _row(
        "collective-reduce",
        None,
        "The first device of a group gets the combined operands (newer XLA only).",
        "hlo_opcode.h kCollectiveReduce",
        rules.same_as_operands,
        attributes=_GROUPS,
        called=("to_apply",),
        constraints=(
            collectives.replica_groups,
            signatures.combiner,
        ),
    ),
    _row(
        "replica-id",
        0,
        "The number of this replica.",
        "StableHLO replica_id",
        rules.device_number,
        infers_in_text=True,
        traits=frozenset(),
    ),
    _row(
        "partition-id",
        0,
        "The number of this partition.",
        "StableHLO partition_id",
        rules.device_number,
        infers_in_text=True,
        traits=frozenset(),
    ),
    _row(
        "infeed",
        1,
        "Data from the host; gives (data, token).",
        "StableHLO infeed",
        None,
        attributes=("infeed_config",),
        traits=_TRANSFER,
        constraints=(stated_shapes.infeed_result,),
    ),
    _row(
        "outfeed",
        2,
        "Sends data to the host; gives a token.",
        "StableHLO outfeed",
        rules.token,
        attributes=("outfeed_shape", "outfeed_config"),
        traits=_TRANSFER,
        constraints=(stated_shapes.outfeed_operands,),
    ),
    _row(
        "send",
        2,
        "Begins sending to a channel; gives (data, u32[], token).",
        "StableHLO send",
        rules.send,
        attributes=("channel_id", "is_host_transfer"),
        traits=_TRANSFER | {Trait.ASYNCHRONOUS},
    ),
    _row(
        "send-done",
        1,
        "Waits until the data is sent.",
        "hlo_verifier.cc HandleSendDone",
        rules.send_done,
        attributes=("channel_id", "is_host_transfer"),
        traits=_TRANSFER | {Trait.ASYNCHRONOUS},
    ),
    _row(
        "recv",
        1,
        "Begins receiving from a channel; gives (data, u32[], token).",
        "StableHLO recv",
        None,
        attributes=("channel_id", "is_host_transfer"),
        traits=_TRANSFER | {Trait.ASYNCHRONOUS},
        constraints=(stated_shapes.recv_result,),
    ),
    _row(
        "recv-done",
        1,
        "Waits for the data; gives (data, token).",
        "hlo_verifier.cc HandleRecvDone",
        rules.recv_done,
        attributes=("channel_id", "is_host_transfer"),
        traits=_TRANSFER | {Trait.ASYNCHRONOUS},
    ),
)
