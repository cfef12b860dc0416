"""Conversion of jaxlib's programs (StableHLO artifacts) to sessions, and back to HLO protos."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from xla_explorer.explorer.compiling import compile as compile_module
from xla_explorer.explorer.session import Session
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.warning import warn
from xla_explorer.frontends.foreign_calls import bind_foreign_calls
from xla_explorer.frontends.hlo_proto import looks_like_proto, read_hlo_proto
from xla_explorer.frontends.hlo_proto.large_constants import text_and_constants, with_constants
from xla_explorer.frontends.protobuf import Message, MessageType
from xla_explorer.frontends.protobuf.writing import bytes_field, number_field
from xla_explorer.frontends.stablehlo import read_program
from xla_explorer.hlo.attributes.sharding import Sharding
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text.module_header import parse_buffer_donor, parse_input_output_alias
from xla_explorer.hlo.verifier import verify
from xla_explorer.pjrt.devices import KINDS
from xla_explorer.pjrt.errors import PjrtError
from xla_explorer.pjrt.hlo_transforms import transformations
from xla_explorer.pjrt.jax_hooks import ir_context
from xla_explorer.pjrt.plugin_options import PluginOptions
from xla_explorer.pjrt.session_list import sessions
from xla_explorer.pjrt.sharded.devices_layout import Layout
from xla_explorer.pjrt.sharded.shardy import combiner, entry_attributes, propagated_results
from xla_explorer.pjrt.sharded.unreduced_values import (
    NO_COMBINERS,
    NO_TERMS,
    Combiners,
    Terms,
    terms_first,
)
from xla_explorer.pjrt.user_layouts import ALL_ROWS, UserLayouts, read_layouts

_BYTECODE = b"ML\xefR"


class Entry(NamedTuple):
    """Attributes of a program's parameters and results that MLIR has and the session lacks.

    shardings: of each result whose sharding the user left open, as far as it is inferred. layouts:
    the memory layouts of parameters and results. memories: the memory kind of each result.
    combiners: the operations that combine the terms of unreduced ones.
    """

    shardings: Sequence[Sharding | None] = ()
    layouts: UserLayouts = ALL_ROWS
    memories: Sequence[str] = ()
    combiners: Combiners = NO_COMBINERS


class Compiled(NamedTuple):
    """A compiled program.

    terms: the parameters and results that are terms of unreduced values. device_runs: of the
    plugin's options.
    """

    session: Session
    terms: Terms = NO_TERMS
    entry: Entry = Entry()
    device_runs: str = "partitioned"


def stablehlo_text(code: bytes, partitions: int = 1) -> tuple[str, Entry]:
    """Return the text of a portable artifact (bytecode of VHLO), with its source places.

    jaxlib's MLIR reads the artifact. Text is returned unchanged.
    """
    if code[:4] != _BYTECODE:
        return code.decode(), Entry()
    from jaxlib.mlir.dialects import stablehlo  # optional: only a process with jaxlib comes here

    with ir_context() as context:
        module = stablehlo.deserialize_portable_artifact(context, code)
        given, made = entry_attributes(module.operation)
        kinds = [
            str(row["mhlo.memory_kind"]).strip('"') if "mhlo.memory_kind" in row else KINDS[0]
            for row in made
        ]
        memories = [kind if kind in KINDS else KINDS[0] for kind in kinds]
        entry = Entry(
            propagated_results(module) if partitions > 1 else (),
            read_layouts(given, made),
            memories,
            Combiners(*[list(map(combiner, rows)) for rows in (given, made)]),
        )
        return str(
            module.operation.get_asm(enable_debug_info=True, large_elements_limit=None)
        ), entry


def compile_program(code: bytes, options: PluginOptions, partitions: int = 1) -> Compiled:
    """Compile a program; its session is noted in `sessions`."""
    entry = Entry()
    if looks_like_proto(code):
        module = read_hlo_proto(code, "program.hlo.pb").module
    else:
        text, entry = stablehlo_text(code, partitions)
        # Results with an open sharding may have any; JAX reads the actual one.
        module = read_program(text, "program.mlir", open_result="{unknown}")
    module = _transformed(module)
    entry = entry._replace(layouts=entry.layouts.decided(module))
    bind_foreign_calls(module)
    terms = terms_first(module, entry.combiners)
    extra: dict[str, Any] = {"donate": True} if options.backend == "cpu" else {}
    session = compile_module(
        module,
        options.backend,
        journal=options.journal,
        threads=options.threads,
        verify=False,
        **extra,
    )
    number = sessions.add(session)
    if options.dump:
        _dump(session, Path(options.dump), number)
    if options.xla_dump_to:
        _dump_as_xla(session, Path(options.xla_dump_to), number)
    return Compiled(session, terms, entry, options.device_runs)


def _transformed(module: HloModule) -> HloModule:
    """Return the program after the transformations that the user registered with JAX."""
    for one in transformations:
        if one.is_scheduled:
            for computation in module.computations.values():
                computation.set_schedule(computation.post_order())
        text, constants = text_and_constants(module)
        proto = one.changed(with_constants(_parse(text), constants))
        if proto is not None:
            try:
                module = read_hlo_proto(proto, f"{one.name}.hlo.pb").module
                verify(module)
            except XlaExplorerError as problem:
                raise PjrtError(
                    "invalid",
                    f"the HLO transformation {one.name!r} made no valid module: {problem.message}",
                    problem.hint,
                ) from problem
        for computation in module.computations.values():
            computation.set_schedule(None)
    return module


def _dump(session: Session, folder: Path, number: int) -> None:
    name = re.sub(r"[^\w.-]+", "_", session.source.name)[:80]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        session.save(folder / f"{number:04}_{name}.html")
    except OSError as problem:  # the program matters more than its page
        warn(f"no page of {session.source.name} in {folder}: {problem}", RuntimeWarning)


def _dump_as_xla(session: Session, folder: Path, number: int) -> None:
    name = re.sub(r"[^\w.-]+", "_", session.source.name)[:80]
    stages = {"before": session.source, f"{session.backend}_after": session.module}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for stage, module in stages.items():
            file = f"module_{number:04}.{name}.{stage}_optimizations"
            (folder / f"{file}.txt").write_text(module.to_text(), encoding="utf-8")
            text, constants = text_and_constants(module)
            proto = with_constants(_parse(text), constants)
            (folder / f"{file}.hlo.pb").write_bytes(bytes_field(1, proto))
    except (OSError, PjrtError) as problem:
        warn(f"no dump of {session.source.name} in {folder}: {problem}", RuntimeWarning)


def donated_parameters(module: HloModule) -> set[int]:
    """Return the numbers of donated parameters."""
    aliases = parse_input_output_alias(module.attributes.get("input_output_alias") or "{}")
    donors = parse_buffer_donor(module.attributes.get("buffer_donor") or "{}")
    return {entry.parameter_number for entry in aliases} | {number for number, _ in donors}


_ENTRY_LAYOUT = re.compile(r",\s*entry_computation_layout=\{\(.*?\)->\(?.*?\}\)?\}")


# -- HLO protos ------------------------------------------------------------------------------------
_PLACES = (
    "_hlo",
    "_jax",
    "xla_extension",
)  # where jaxlib has `hlo_module_from_text`; it has moved twice


def hlo_with_config(
    session: Session,
    code: bytes,
    entry: Entry,
    layout: Layout | None,
    replicas: int,
) -> bytes:
    """Return the optimised module as HloModuleProtoWithConfig.

    If jaxlib's parser rejects the module, it is the module as written. code: the compiled program;
    if it was an HLO proto, it is returned in a process without jaxlib.

    JAX requests this proto at every compile. It ends the process if the config lacks the entry's
    layout (HloModuleConfigProto.entry_computation_layout, the same bytes as
    HloModuleProto.host_program_shape).
    """
    partitions = layout.count if layout is not None else 1
    # Nothing is left to propagate (allow_spmd_sharding_propagation_to_output and _to_parameters).
    counts = number_field(4, replicas) + number_field(5, partitions)
    config = counts + number_field(27, 0) + number_field(33, 0)
    refused, written = None, layout.terms.written if layout is not None else None
    for module in (
        written or session.module,
        session.source,
        _signature_only(written or session.source),
    ):
        try:
            text, constants = (
                (module, {}) if isinstance(module, str) else text_and_constants(module)
            )
            if entry.layouts or set(entry.memories) - {KINDS[0]}:
                given = entry.layouts.entry_layout(written or session.source, entry.memories)
                text = _with_entry_layout(text, given)
            if layout is not None:
                text = _with_root_sharding(text, layout.root_sharding())
            proto = with_constants(_parse(text), constants)
        except Exception as problem:  # jaxlib raises several kinds
            refused = problem
            continue
        proto, lies = proto + (layout.fields() if layout is not None else b""), _field(proto, 4)
        return bytes_field(1, proto) + bytes_field(2, bytes_field(1, lies) + config)
    if looks_like_proto(code):
        return bytes_field(1, code) + bytes_field(2, bytes_field(1, _field(code, 4)) + config)
    raise PjrtError(
        "internal",
        f"jaxlib cannot read the optimised HLO: {refused}",
        "session.module.to_text() has it",
    )


def _with_entry_layout(text: str, layout: str) -> str:
    """Return a module's text with the layout attribute in its header."""
    header, newline, rest = text.partition("\n")
    return f"{re.sub(_ENTRY_LAYOUT, '', header)}, entry_computation_layout={layout}{newline}{rest}"


def _with_root_sharding(text: str, sharding: str) -> str:
    """Return a module's text with the sharding, which may be propagated, at the entry's root."""
    root = text.index("\n  ROOT ", text.index("ENTRY ")) + 1
    end = text.index("\n", root)
    line = re.sub(r", sharding=\{(\{[^{}]*(\{[^{}]*\}[^{}]*)*\}|[^{}])*\}", "", text[root:end])
    return f"{text[:root]}{line}, sharding={sharding}{text[end:]}"


def _signature_only(module: HloModule) -> str:
    """Return a module with the parameters and results of another; its root is a custom call."""
    shapes = [p.shape for p in module.entry.parameters()]
    lines = [f"  p{k} = {shape} parameter({k})" for k, shape in enumerate(shapes)]
    operands = ", ".join([f"p{k}" for k in range(len(shapes))])
    root = f'  ROOT r = {module.result_shape()} custom-call({operands}), custom_call_target="xla_explorer_program"'
    return (
        "HloModule "
        + re.sub(r"\W", "_", module.name)
        + "\n\nENTRY e {\n"
        + "\n".join([*lines, root])
        + "\n}\n"
    )


def _parse(text: str) -> bytes:
    for place in (
        _PLACES if "jaxlib" in sys.modules else ()
    ):  # in another host's process its libraries may not fit in
        try:
            found = importlib.import_module(f"jaxlib.{place}")
        except ImportError:
            continue
        if hasattr(found, "hlo_module_from_text"):
            return bytes(found.hlo_module_from_text(text).as_serialized_hlo_module_proto())
    raise PjrtError("unimplemented", "no jaxlib here parses HLO text", "install a newer jaxlib")


def _field(message: bytes, wanted: int) -> bytes:
    """Return the bytes of a field of a message."""
    return Message(MessageType("HloModuleProto", field=wanted), message).data("field")
