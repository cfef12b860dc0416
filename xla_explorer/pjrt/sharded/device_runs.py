"""Runs of a program for several devices as its partitions or replicas.

Otherwise a program is joined in one (see `devices_layout`). Effects in its text require this, since
every partition would repeat them. So do shards of the partitioner that JAX's arrays do not have.
"""

from __future__ import annotations

from dataclasses import replace

from xla_explorer.backends.interfaces import DevicesProgram, SeveralDevices
from xla_explorer.backends.registry import platform
from xla_explorer.compiler.spmd.explanation.recorded_partitioning import recorded_partitioning
from xla_explorer.explorer.session import Session
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.effects import is_observable
from xla_explorer.hlo.evaluator.devices.deadlocks import DeadlockError
from xla_explorer.hlo.module import HloModule
from xla_explorer.pjrt.sharded.devices_layout import Layout

_SHARDINGS = ("sharding", "frontend_attributes")
_RANDOM = ("rng", "rng-get-and-update-state")


def program_of_devices(
    session: Session, layout: Layout | None, replicas: int
) -> DevicesProgram | Reason:
    """Return the program that each device runs, or why there is none.

    layout: the shards of partitions; None for replicas.
    """
    module = session.source
    if layout is None:
        local = module.clone()
        local.attributes["replica_count"] = replicas
        return _compiled(session, local, replicas, 1)
    reason = _why_joined(module, layout)
    if reason is not None:
        return reason
    whole = module.clone()
    # JAX's arrays are what they are: nothing is propagated to parameters and results.
    fixed = [(whole.entry.root, layout.root_sharding())]
    if all(p.shape.is_array for p in whole.entry.parameters()):
        fixed += zip(whole.entry.parameters(), map(str, layout.parameters), strict=True)
    for i, text in fixed:
        whole.entry.set_attributes(i, i.attributes.with_values(sharding=text))
    try:
        whole.attributes["num_partitions"] = layout.count
        recorded = recorded_partitioning(whole)
        recorded.check_meetings()
        reason = _other_shards(recorded.module, layout)
        return reason or _compiled(session, recorded.module, 1, layout.count)
    except DeadlockError:  # joined in one program, its devices would not wait as real ones do
        raise
    except Exception as problem:  # whatever the partitioner meets: the joined program runs
        return refuse("not-partitioned", f"{module.name} is not partitioned: {problem}")


def _why_joined(module: HloModule, layout: Layout) -> Reason | None:
    unreduced = refuse("unreduced", "terms of unreduced values are kept by the joined program")
    if layout.terms.written is not None:
        return unreduced
    for i in module.entry.instructions.values():
        if is_observable(i):
            return refuse("effects", f"%{i.name} has an effect, which each device would repeat")
    for i in module.instructions():
        if any("unreduced" in str(i.attributes.get(name, "")) for name in _SHARDINGS):
            return unreduced
        if i.opcode.name in _RANDOM:
            return refuse("random", f"%{i.name} draws other numbers on each device")
        if i.opcode.name == "custom-call" and "callback" in str(
            i.attributes.get("custom_call_target")
        ):
            return refuse("callback", f"%{i.name} would call Python once for each device")
    return None


def _other_shards(local: HloModule, layout: Layout) -> Reason | None:
    """Return a reason if a parameter or result is not split as JAX's arrays are."""
    given = [p.shape.dimensions for p in local.entry.parameters()]
    made = [s.dimensions for _, s in local.result_shape().leaves() if s.is_array]
    rows = (
        ("parameter", given, layout.parameter_shapes, layout.parameters),
        ("result", made, layout.result_shapes, layout.results),
    )
    for what, parts, shapes, shardings in rows:
        wanted = [
            tuple([s.stop - s.start for s in sharding.part(shape.dimensions, 0)])
            for shape, sharding in zip(shapes, shardings, strict=True)
            if shape.is_array
        ]
        if [tuple(dims) for dims in parts] != wanted:
            return refuse("other-shards", f"a {what} has other shards: {parts}, not {wanted}")
    return None


def _compiled(
    session: Session, module: HloModule, replicas: int, partitions: int
) -> DevicesProgram | Reason:
    options = replace(session.options, threads=1, backend_options={}, control=None)
    compiler = platform(session.backend).compiler()
    if not isinstance(compiler, SeveralDevices):
        return refuse("one-device", f"{session.backend} runs programs of one device")
    result = compiler.run_backend(compiler.run_hlo_passes(module, options), options)
    program = compiler.on_devices(result, replicas, partitions)
    return program or refuse("dynamic", f"{module.name} has dynamic dimensions")
