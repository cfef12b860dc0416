"""Runs our passes on XLA's unit tests (`pass_tests`) and recorded single passes (`pass_goldens`).

    python tests/conformance/pass_tests_adapter.py tests --pass algsimp [--all] [--show 20]
        [--report out.json]
    python tests/conformance/pass_tests_adapter.py goldens --pass 'algsimp|reshape-mover'
        [--show 20] [--report out.json] [--every 4]

The referee of the corpus (`pass_tests.py`) calls `run_pass`. `tests` needs jaxlib; `goldens` does
not.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import gzip
import importlib.util
import json
import math
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.support.corpora import SHARED
from xla_explorer.compiler.pipeline.optimize import optimize
from xla_explorer.compiler.pipeline.pass_interface import HloPass, make_pass
from xla_explorer.compiler.pipeline.pipeline import PassPipeline
from xla_explorer.compiler.transforms.simplifiers.common_subexpressions import (
    merge_equal_instructions,
)
from xla_explorer.compiler.transforms.simplifiers.dead_code import DeadCodeElimination
from xla_explorer.compiler.transforms.simplifiers.tuple_simplifier import TupleSimplifier
from xla_explorer.hlo.analysis.structural_keys import StructuralKeys
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text.parser import parse_hlo

CORPUS = SHARED / "xla_corpus"

# Options as in XLA's unit tests: each instruction is visited once, so that a pattern shows one
# rule's work. XLA's rules that ignore overflow need fast math here.
UNIT_TEST_OPTIONS: dict[str, dict[str, Any]] = {
    "algsimp": {
        "run_to_fixed_point": False,
        "supports_non_canonical_dots": True,
        "fast_math": True,
    },
    "simplify-conditional": {"select_all": True},
    "defuser": {"every": True},
    "sort-rewriter": {"mode": "always"},
    "fusion": {"policy": "xla"},
    "fusion-wrapper": {"policy": "xla"},
    "spmd-partitioning": {"policy": "xla"},
}
# Passes that the fixtures of XLA's unit tests run after the pass, before their checks.
UNIT_TEST_CLEANUP = {"reshape-mover": "algsimp,dce"}
# Options that XLA's CPU compiler sets against a pass's defaults (cpu_compiler.cc), as recorded.
RECORDED_OPTIONS: dict[str, dict[str, Any]] = {
    "simplify-conditional": {"select_all": True},
    "algsimp": {"fast_math": True},
    "reshape-decomposer": {"merge_bitcasts": False},
    "scatter_expander": {"mode": "simple"},
    "gather_expander": {"mode": "simple"},
    "convolution-group-converter": {"native_types": ("f16", "f32")},
    "cpu-parallel-task-assigner": {"max_parallelism": 2},  # of the machine that recorded
}
# Passes with a policy of ours beside XLA's: each is judged by both, and named with the policy.
POLICIES = {
    "fusion": ("time", "xla"),
    "fusion-wrapper": ("time", "xla"),
    "layout-assignment": ("row-major", "xla"),
}
# XLA rebuilds the old state for its tuple-simplifier; our passes redirect readers at once.
STATE_PASSES = frozenset(["simplify-while-loops", "simplify-conditional"])
LAYOUT_SENSITIVE_PIPELINES = (
    "simplification_after_layout_assignment",
    "HLO_passes_after_layout_assignment",
)
# Options without effect here: of a vendor library that we do not have, or those of the flags.
IGNORED_OPTIONS = frozenset(
    ["cudnn_batchnorm_forward_training_metadata", "debug_options", "need_resolve_conflicts"]
)


# The parameters of the passes' constructors in XLA, in order, by our names for them. `_name`: the
# argument has no counterpart here (a device description, a callback, a count that the module
# states). `=name`: a literal has no counterpart here. `name?`: where the record holds no literal,
# the test's fixture leaves our default.
_DEVICES = ("replica_count", "num_partitions")
_THRESHOLDS = ("combine_threshold_in_bytes", "combine_threshold_count?")
CONSTRUCTOR_PARAMETERS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        [
            "reduce-scatter-creator",
            "all-gather-dynamic-slice-simplifier",
            "all-gather-to-collective-permute-simplifier",
        ],
        _DEVICES,
    ),
    **dict.fromkeys(["all-reduce-combiner", "collective-permute-combiner"], _THRESHOLDS),
    **dict.fromkeys(
        ["all-gather-combiner", "reduce-scatter-combiner"],
        (*_THRESHOLDS, "combine_by_dim", "combine_different_dtypes", "combine_while_loops"),
    ),
    "collective-pipeliner-forward": ("level_to_operate_on?",),
    "all-gather-optimizer": ("_replica_count", "_num_partitions"),  # the module's own here
    "ar-crs-combiner": ("num_spatial_partitions", "spmd_partition"),
    "async-collective-creator": ("_config",),
    "batchnorm_expander": ("rewrite_training_op", "rewrite_inference_op", "rewrite_grad_op"),
    "call-inliner": ("single_call_site", "=update_domain"),
    "constant_folding": ("_level",),
    "convolution-group-converter": ("_should_expand", "_is_cost_viable", "convert_batch_groups"),
    "cse": ("is_layout_sensitive", "only_fusion_computations"),
    "cudnn_pad_for_convolutions": ("_compute_capability", "_cudnn_version"),
    "dce": ("remove_cross_partition_collective_ops?", "use_call_analysis"),
    "dot-merger": ("max_size_to_merge?", "_can_merge"),
    "element_type_converter": ("eliminate_type?", "replace_with_type?"),
    "domain_isolator": ("_creator",),
    "domain_remover": ("kind?", "_normalizer"),
    "fusion": ("_is_expensive", "_may_duplicate", "_cost"),
    "fusion-wrapper": ("_using_new_fusion_emitter", "=use_tiled_fusion_emitter"),
    "gemv-rewriter": ("_is_layout_sensitive",),
    "hlo-constant-splitter": ("split_expressions",),
    "instruction-hoister": (
        "hoist_parameters",
        "host_constants",
        "hoist_bitcasts",
        "hoist_tuples",
    ),
    "loop-double-buffer-transformer": ("unroll_strategy?",),
    "ragged-all-to-all-multi-host-decomposer": ("devices_of_host",),
    "ragged_dot_rewriter": ("_gpu_version", "_options", "_hlo_cost"),
    "dot-strength-reduction": ("_gpu_version",),
    "reduction-splitter": ("ignore_small_reduce_dims",),
    "reorder-convert-reduce-add": ("enable_reduce_scatter",),
    "scan_expander": ("expand_associative",),
    "sort-rewriter": ("_device",),
    "stream-attribute-annotator": ("_device",),
    "layout_normalization": ("_custom_call_transformer",),
    "reduce-decomposer": ("_custom_layout_allowed",),
    "algsimp": ("_options", "_compute_capability"),
    "spmd-partitioning": ("num_partitions",),
    "spmd-prepare": ("_num_partitions",),  # those of the partitioner after it
    "simplify-while-loops": ("simplify_compare_instrs",),
    "sharding-propagation": (
        "_is_spmd",
        "_propagate_metadata",
        "allow_spmd_sharding_propagation_to_output",
        "allow_spmd_sharding_propagation_to_parameters",
        "_cse_prevention_only",
        "_sharding_helper",
    ),
    "tree_reduction_rewriter": ("reduce_window_size", "_should_expand"),
    "all-reduce-blueconnect": ("num_devices_per_host",),
    "topk-rewriter": ("_is_profitable", "_target"),
    "topk-splitter": ("split_threshold",),
    "triton-softmax-rewriter": (
        "_device_info",
        "_shape_size",
        "_alias_info",
        "_mlir_context",
        "_only_fuse_if_profitable",
        "_use_tiling",
    ),
    "while-loop-all-reduce-code-motion": ("enable_reduce_scatter", "run_setup_passes"),
    "while-loop-constant-sinking": ("sink_broadcast_of_constants", "sink_only_scalar_constants"),
    "while-loop-expensive-invariant-code-motion": ("_worth_hoisting", "_shape_size"),
    "while-loop-invariant-code-motion": ("hoist_constants", "hoist_reshapes"),
    "while-loop-fusible-sinking": ("sink_broadcast_of_constant",),
    "while_loop_unroller": ("unroll_factor",),
}
# Flags of XLA that are options of a pass here, with the values' names.
FLAG_OPTIONS: dict[str, dict[str, tuple[str, dict[str, Any]]]] = {
    "sort-rewriter": {
        "xla_gpu_deviceless_cub_mode": (
            "mode",
            {
                "DebugOptions::DEVICELESS_CUB_DISABLED": "never",
                "DebugOptions::DEVICELESS_CUB_WITH_FALLBACK": "known-size",
                "DebugOptions::DEVICELESS_CUB_NO_FALLBACK": "always",
                "DebugOptions::DEVICELESS_CUB_FORCE_ON_NO_FALLBACK": "always",
            },
        ),
    },
    "dot-algorithm-rewriter": {
        "xla_gpu_default_to_alg_dot_bf16_bf16_f32": (
            "default_to_bf16",
            {"true": True, "false": False},
        ),
    },
    "unstable-reduction-detector": {
        "xla_detect_unstable_reductions": (
            "mode",
            {
                "DebugOptions::DETECTION_MODE_FAIL": "fail",
                "DebugOptions::DETECTION_MODE_WARNING": "warning",
                "DebugOptions::DETECTION_MODE_NONE": "none",
            },
        ),
    },
}
# XLA's pass has one name here for all directions; the records state neither it nor the collectives.
# The first entry that changes the module stands for the test's own.
PIPELINER_IGNORED = frozenset(
    ["postprocess_pipelined_ops", "remove_loop_iteration_annotation_only"]
)
PIPELINER = "collective-pipeliner-forward"
PIPELINER_TRIES: tuple[tuple[str, dict[str, Any]], ...] = tuple(
    [
        (f"collective-pipeliner-{direction}", options)
        for direction, options in (
            ("forward", {"opcodes": ("all-reduce",)}),
            ("forward", {"opcodes": ("all-gather",)}),
            ("forward", {"opcodes": ("all-reduce",), "use_tree": True}),
            ("forward", {"opcodes": ("reduce-scatter",), "use_tree": True}),
            ("backward", {"opcodes": ("all-gather",)}),
            ("forwardsink", {"opcodes": ("all-reduce",)}),
            # the tests that run on one device
            ("forward", {"opcodes": ("negate",)}),
            ("forwardsink", {"opcodes": ("negate",)}),
        )
    ]
)
# Options that the fixture of a test sets in its constructor, and no record has. The keys are
# prefixes of names of tests, or ends of names of files.
FIXTURE_OPTIONS: dict[str, dict[str, Any]] = {
    "gpu/transforms/fusion_wrapper_test.cc": {"policy": "gpu"},
    "ChangeOpDataTypeTest.DotAndConv": {"arguments": []},
    "ChangeOpDataTypeTest.WideningDotAndConv": {"arguments": []},
    # The flag is that of the pipeliner; dce, which removes unread constants, runs apart from it.
    "CollectivePipelinerExecutionTest.": {"pass_name": "CollectivePipeliner"},
    "DespecializerTest.": {"deconstruct_reduce_window": True, "prior_passes": []},  # a log line
    "GatherExpanderTest.": {"arguments": [], "mode": "all"},
    "GatherExpanderTest.EliminateSimpleGathers": {"arguments": [], "mode": "simple"},
    "ScatterExpanderTest.": {"arguments": [], "mode": "all"},
    "ScatterExpanderTest.EliminateSimple": {"arguments": [], "mode": "simple"},
    "ScatterExpanderTest.EliminateScatterWith": {"arguments": [], "mode": "indeterministic"},
    "ScatterExpanderTest.DoNotEliminateScatterWith": {"arguments": [], "mode": "indeterministic"},
    "SortRewriterTest.H100": {"arguments": [], "device": "h100", "mode": "auto"},
    "SortRewriterTest.A100": {"arguments": [], "device": "a100", "mode": "auto"},
    "SimplifyNoOpBitcastConvertTest.": {
        "is_layout_sensitive": "true",
        "rewrite_no_op_bitcast_convert_to_bitcast": "true",
    },
}
# XLA's names of options that we have under another name.
OPTION_NAMES = {"enable_fast_math": "finite_math"}
_LITERALS = {"true": True, "false": False}


def constructor_options(name: str, arguments: list[str]) -> dict[str, Any]:
    """Return the options that the constructor arguments of a test set, by our names.

    UnsupportedOptionError for an argument that neither the record nor `CONSTRUCTOR_PARAMETERS`
    explains.
    """
    known = CONSTRUCTOR_PARAMETERS.get(name, ())
    given: dict[str, Any] = {}
    if len(arguments) > len(known):
        raise UnsupportedOptionError(f"arguments {arguments}")
    for parameter, text in zip(known, arguments, strict=False):
        literal = re.fullmatch(r"-?[0-9]+( \* [0-9]+)*", text)
        if parameter.startswith("_") or (parameter.startswith("=") and text in _LITERALS):
            continue
        if text in _LITERALS:
            given[parameter.rstrip("?")] = _LITERALS[text]
        elif literal:
            given[parameter.rstrip("?")] = math.prod([int(factor) for factor in text.split(" * ")])
        elif not parameter.endswith("?"):
            raise UnsupportedOptionError(f"argument {parameter} is {text!r}")
    return given


class UnsupportedOptionError(Exception):
    """The pass, or an option of it, is not ours."""


def make(name: str, options: dict[str, Any]) -> HloPass:
    """Return the pass with those options; UnsupportedOptionError if there is none."""
    try:
        return make_pass(name, **options)
    except (LookupError, ValueError) as problem:
        raise UnsupportedOptionError(str(problem)) from None


def apply(name: str, module: HloModule, options: dict[str, Any]) -> tuple[bool, HloModule]:
    """Run one pass on the module itself.

    Returns whether it says that it changed something, and the module.
    """
    trace = optimize(module, PassPipeline(name, (make(name, options),)), "off", in_place=True)
    return trace.steps[-1].changed, trace.module


def run_pass(names: list[str], text: str, options: dict[str, Any]) -> tuple[bool, str]:
    """Run one pass by the name of XLA's dumps: the adapter of the referee.

    Constructor arguments and flags become options; tests with other flags are not judged.
    """
    given = constructor_options(names[0], options.get("arguments") or [])
    for flag, value in (options.get("flags") or {}).items():
        option, values = FLAG_OPTIONS.get(names[0], {}).get(flag, ("", {}))
        if value not in values:
            raise UnsupportedOptionError(f"flag {flag}={value}")
        given[option] = values[value]
    named = {
        # the tests that set an option `convert_...` set the predicate that is always true
        OPTION_NAMES.get(k, k): True if v == "see source" and k.startswith("convert_") else v
        for k, v in options.items()
        if k not in IGNORED_OPTIONS | {"flags", "arguments"}
    }
    if names[0] == "spmd-prepare":
        named = {}  # they are the partitioner's, which runs after it
    if names[0] == PIPELINER:
        if unknown := set(named) - PIPELINER_IGNORED:
            raise UnsupportedOptionError(f"options {sorted(unknown)}")
        return _pipelined(text, int(given.get("level_to_operate_on", 0)))
    kept = {**UNIT_TEST_OPTIONS.get(names[0], {}), **given, **named}
    if names[0] == "dce":  # in a list, the arguments are those of the pass before it
        kept = {k: v for k, v in kept.items() if isinstance(v, bool)}
    if names[0] == "dce" and not kept.get("remove_cross_partition_collective_ops", True):
        del kept["remove_cross_partition_collective_ops"]
    changed, module = apply(names[0], parse_hlo(text), kept)
    if len(names) == 1 and names[0] in UNIT_TEST_CLEANUP:
        module = optimize(module, UNIT_TEST_CLEANUP[names[0]], "off").module
    return changed, module.to_text()


def _loop_depth(computation: HloComputation) -> int:
    """Return how deep loops are nested."""
    return max(
        [
            (i.opcode.name == "while") + max(map(_loop_depth, i.called))
            for i in computation.instructions.values()
            if i.called
        ],
        default=0,
    )


def _pipelined(text: str, level: int) -> tuple[bool, str]:
    """Run the pipeliner in the direction that changes something.

    A level deeper than the loops has no loop.
    """
    if level > _loop_depth(parse_hlo(text).entry):
        return False, text
    for name, options in PIPELINER_TRIES:
        changed, module = apply(name, parse_hlo(text), options)
        if changed:
            return True, module.to_text()
    return False, text


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The result of one record.

    verdict: passed, failed, unsupported or error; detail: the expected and the found result.
    """

    name: str
    pass_name: str
    verdict: str
    detail: str


def records(file: str) -> Iterator[dict[str, Any]]:
    """Yield the records of a file of the corpus."""
    with gzip.open(CORPUS / "dev" / file, "rt") as lines:
        for line in lines:
            yield json.loads(line)


def tidy(module: HloModule, *, merge: bool = True, forward: bool = False) -> HloModule:
    """Remove dead instructions and, on request, repetitions and projections of tuples.

    `merge` removes repetitions; with `forward`, elements of tuples are read past the tuple.

    What a pass leaves dead, and whether it writes a constant twice or reads it twice, says nothing
    about its rewrites.
    """
    passes: tuple[HloPass, ...] = (
        (TupleSimplifier(), DeadCodeElimination()) if forward else (DeadCodeElimination(),)
    )
    optimize(module, PassPipeline("tidy", passes), "off", in_place=True)
    if merge:
        keys = StructuralKeys(True)
        for computation in module.computations.values():
            merge_equal_instructions(computation, keys)
    return module


def same_graph(
    a: HloModule, b: HloModule, *, layouts: bool, merge: bool = True, forward: bool = False
) -> bool:
    """Return True if the graphs from the entry's root are equal, except for names and `tidy`."""
    keys = StructuralKeys(layouts)
    return keys.of(tidy(a, merge=merge, forward=forward).entry) == keys.of(
        tidy(b, merge=merge, forward=forward).entry
    )


def golden_options(record: dict[str, Any], policy: str = "") -> dict[str, Any]:
    """Return the CPU compiler's options of the recorded pass, with the given policy."""
    options = dict(RECORDED_OPTIONS.get(record["pass_name"], {}))
    if policy:
        options["policy"] = policy
    if (
        record["pass_name"] in ("algsimp", "cse")
        and record["pipeline"] in LAYOUT_SENSITIVE_PIPELINES
    ):
        options["is_layout_sensitive"] = True
        if record["pass_name"] == "algsimp":
            options["rewrite_no_op_bitcast_convert_to_bitcast"] = True
    return options


def judge_golden(record: dict[str, Any], policy: str = "") -> Verdict:
    """Run our pass on the input of XLA's pass and compare the graphs.

    A pass with several policies runs by the given one.
    """
    label = record["pass_name"] + (f"{{policy={policy}}}" if policy else "")

    def verdict(kind: str, detail: str = "") -> Verdict:
        return Verdict(f"{record['name']}#{record['index']}", label, kind, detail)

    try:
        module = parse_hlo(record["before"])
        wanted = parse_hlo(record["after"])
        _, module = apply(record["pass_name"], module, golden_options(record, policy))
        name = record["pass_name"]
        same = same_graph(
            module,
            wanted,
            layouts="after_layout" in record["pipeline"],
            merge=name != "cse",
            forward=name in STATE_PASSES,
        )
    except UnsupportedOptionError as problem:
        return verdict("unsupported", str(problem))
    except Exception as problem:  # a crash is a finding like another
        return verdict("error", f"{type(problem).__name__}: {problem}")
    if same:
        return verdict("passed")
    return verdict(
        "failed", f"before\n{record['before']}\nXLA\n{wanted.to_text()}\nours\n{module.to_text()}"
    )


def golden_verdicts(only: str, every: int = 1) -> list[Verdict]:
    """Of the recorded passes whose name matches, each `every`-th; by each of a pass's policies."""
    chosen = [r for r in records("pass_goldens.jsonl.gz") if re.fullmatch(only, r["pass_name"])]
    return [
        judge_golden(r, policy)
        for r in chosen[::every]
        for policy in POLICIES.get(r["pass_name"], ("",))
    ]


def referee() -> Any:
    """Return the corpus' own script `pass_tests.py` as a module."""
    spec = importlib.util.spec_from_file_location("pass_tests", CORPUS / "pass_tests.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_STATED = ("arguments", "pass_name", "prior_passes")


def with_fixture(record: dict[str, Any]) -> dict[str, Any]:
    """Return the record with the options that the fixture of its test sets."""
    file, _, test = record["name"].partition("::")
    known = [
        prefix for prefix in FIXTURE_OPTIONS if test.startswith(prefix) or file.endswith(prefix)
    ]
    if not known:
        return record
    options = dict(FIXTURE_OPTIONS[max(known, key=len)])
    stated = {k: options.pop(k) for k in _STATED if k in options}
    return {**record, **stated, "options": {**record["options"], **options}}


def unit_test_verdicts(only: str, *, all_tests: bool = False) -> list[Verdict]:
    """XLA's unit tests of the passes whose dump name matches: the plain ones, or all."""
    judge_of = referee()
    judge = judge_of.Judge(run_pass, 60)
    found = []
    for record in records("pass_tests.jsonl.gz"):
        names = [n.removeprefix("fix:") for n in judge_of.pass_names(record["pass_name"])]
        if (all_tests or record["plain"]) and any(re.fullmatch(only, name) for name in names):
            kind, statements = judge(with_fixture(record))
            details = [
                f"{what}: {detail[:1500]}"
                for what, answer, detail in statements
                if answer is not True
            ]
            expected = json.dumps(
                {k: v for k, v in record["expectation"].items() if v not in (None, [], {})}
            )
            text = (
                "\n".join([f"options {record['options']} {record['hlo']}", expected, *details])
                if kind != "passed"
                else ""
            )
            found.append(Verdict(record["name"], "+".join(names), kind, text))
    return found


def main() -> None:
    """Print the disagreements and a table by pass."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", choices=("tests", "goldens"))
    parser.add_argument(
        "--pass", dest="only", default=".*", help="regular expression of whole dump names"
    )
    parser.add_argument("--all", action="store_true", help="tests: also those that set options")
    parser.add_argument("--every", type=int, default=1, help="goldens: each n-th only")
    parser.add_argument("--show", type=int, default=0, help="print that many disagreements")
    parser.add_argument("--report", help="write every verdict to this JSON file")
    arguments = parser.parse_args()
    if arguments.corpus == "tests":
        verdicts = unit_test_verdicts(arguments.only, all_tests=arguments.all)
    else:
        verdicts = golden_verdicts(arguments.only, arguments.every)
    for v in [v for v in verdicts if v.verdict in ("failed", "error")][: arguments.show]:
        print(f"==== {v.verdict} {v.pass_name} {v.name}\n{v.detail}")
    table: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for v in verdicts:
        table[v.pass_name][v.verdict] += 1
    for name, row in sorted(table.items(), key=lambda item: -sum(item[1].values())):
        judged = row["passed"] + row["failed"] + row["error"]
        share = f"{100 * row['passed'] / judged:5.1f} %" if judged else "   -"
        print(
            f"{name:45} {share}  "
            + "  ".join(f"{kind} {count}" for kind, count in sorted(row.items()))
        )
    if arguments.report:
        Path(arguments.report).write_text(
            json.dumps([dataclasses.asdict(v) for v in verdicts], indent=1)
        )


if __name__ == "__main__":
    main()
