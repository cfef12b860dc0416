"""`evaluate_replicated`: a module on several virtual devices, one thread and one evaluator each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xla_explorer.foundation.keywords import explains_arguments
from xla_explorer.foundation.limits import bounds
from xla_explorer.hlo.analysis.elided_constants import warn_of_elided_constants
from xla_explorer.hlo.evaluator.arguments import evaluate_here, values_of
from xla_explorer.hlo.evaluator.devices.host import Host
from xla_explorer.hlo.evaluator.devices.world import DEFAULT_TIMEOUT, Device, World, prepare
from xla_explorer.hlo.evaluator.evaluator import DEFAULT_MAX_ELEMENTS, Evaluator
from xla_explorer.hlo.evaluator.registry import EvaluationError
from xla_explorer.hlo.module import HloModule


@explains_arguments
def evaluate_replicated(  # noqa: PLR0913 - keywords that users type
    module: HloModule,
    per_device_arguments: Sequence[Sequence[Any]],
    *,
    replicas: int | None = None,
    partitions: int | None = None,
    timeout: float = DEFAULT_TIMEOUT,
    hosts: Sequence[Host] | None = None,
    seed: int = 0,
    max_elements: int = DEFAULT_MAX_ELEMENTS,
    max_iterations: int | None = None,
    as_xla_cpu: bool = False,
) -> list[Any]:
    """Return the entry's result on every device, by the numpy reference.

    Device number = replica * partitions + partition.

    Parameters
    ----------
    module
        The module.
    per_device_arguments
        For each device the arguments that `evaluate` takes after the module.
    replicas, partitions
        By default the module's `replica_count` and `num_partitions`. If the module has neither,
        there is one replica for each argument list.
    timeout
        Seconds that a device waits for others in a collective.
    hosts
        One for each device.
    seed
        Device d draws with seed + d.
    max_elements, max_iterations, as_xla_cpu
        As in `Evaluator`.

    Returns
    -------
    list
        One result a device.

    Raises
    ------
    RendezvousError
        Some devices are missing from a collective; the message names them.
        An error on one device ends the run.

    Examples
    --------
    >>> import numpy as np
    >>> import xla_explorer as xe
    >>> module = xe.parse_hlo('''
    ... add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
    ... ENTRY main {
    ...   x = f32[] parameter(0)
    ...   ROOT r = f32[] all-reduce(x), replica_groups={}, to_apply=add
    ... }''')
    >>> [float(y) for y in xe.hlo.evaluate_replicated(module, [[np.float32(1)], [np.float32(2)]])]
    [3.0, 3.0]
    """
    warn_of_elided_constants(module)
    arguments = [list(a) for a in per_device_arguments]
    replicas, partitions = _counts(module, len(arguments), replicas, partitions)
    world = World(replicas, partitions, timeout)
    if len(arguments) != len(world.devices):
        raise EvaluationError(
            f"{module.name} on {replicas} replicas x {partitions} partitions needs arguments for "
            f"{len(world.devices)} "
            f"devices, got {len(arguments)}"
        )
    if hosts is not None and len(hosts) != len(world.devices):
        raise EvaluationError(f"{len(world.devices)} devices need as many hosts, got {len(hosts)}")
    elsewhere = bounds().elsewhere
    if elsewhere is not None:
        options = {
            "replicas": replicas,
            "partitions": partitions,
            "timeout": timeout,
            "hosts": hosts,
            "seed": seed,
            "max_elements": max_elements,
            "max_iterations": max_iterations,
            "as_xla_cpu": as_xla_cpu,
        }
        results = elsewhere(
            "evaluate_replicated", module, [values_of(module, a) for a in arguments], options
        )
        if results is not NotImplemented:
            return list(results)
    prepare(module)

    def run(device: Device) -> Any:
        evaluator = Evaluator(
            max_elements=max_elements,
            seed=seed + device.number,
            max_iterations=max_iterations,
            as_xla_cpu=as_xla_cpu,
            device=device,
            host=hosts[device.number] if hosts is not None else None,
        )
        return evaluate_here(module, arguments[device.number], evaluator)

    return world.run(run)


def _counts(
    module: HloModule, devices: int, replicas: int | None, partitions: int | None
) -> tuple[int, int]:
    written = [module.attributes.get(name) for name in ("replica_count", "num_partitions")]
    if replicas is None and partitions is None and written == [None, None]:
        return max(devices, 1), 1
    replicas = replicas if replicas is not None else int(written[0] or 1)
    partitions = partitions if partitions is not None else int(written[1] or 1)
    if replicas < 1 or partitions < 1:
        raise EvaluationError(
            f"replicas and partitions count from 1, got {replicas} and {partitions}"
        )
    return replicas, partitions
