"""XLA's own estimates of collectives, to show beside ours.

Source: xla/service/spmd/spmd_partitioner.cc (CommunicationCostInBytes),
xla/hlo/experimental/auto_sharding/cluster_environment.cc,
xla/service/gpu/model/sol_gpu_cost_model.cc.
"""

from __future__ import annotations

from typing import Final, NamedTuple


def partitioner_bytes(kind: str, size: float, n: int) -> float:
    """Return the bytes by which the partitioner ranks: 2B, b, (n-1)/n of B, else 0."""
    if kind == "all-reduce":
        return 2 * size
    if kind == "collective-permute":
        return size
    return size * (n - 1) / n if kind in ("all-gather", "all-to-all") else 0.0


def auto_sharding_cost(kind: str, size: float, n: int, a: float, b: float) -> float:
    """Return the cost in automatic sharding; the small constants break ties.

    size: bytes of the whole array. a, b: cost of a step and of a byte.
    """
    if kind == "all-gather":
        return a + b * (n - 1) / n * size + 0.1
    if kind == "all-reduce":
        return a + b * 2 * (n - 1) / n * size + 0.01
    if kind == "reduce-scatter":
        return a + b * (n - 1) / n * size + 0.001
    return a + b * (n - 1) / n / n * size * n / 2 + 0.001


class NetworkModel(NamedTuple):
    """Numbers of XLA's model of the network between nodes.

    nic: bytes per microsecond. round_trip_us, chunk_us: of a message, and of preparing 4 MiB.
    """

    nic: float
    round_trip_us: float
    chunk_us: float
    launch_us: float = 100.0


_SCALE: Final = 0.45
_CHUNK: Final = 4 << 20
_HEADER: Final = 1.025
NETWORKS: Final = {
    "h100": NetworkModel(55.56e3, 68.89, 13.34),
    "b200": NetworkModel(111.12e3, 46.67, 4.45),
}


def between_nodes_us(machine: str, n: int, size: float, per_node: int, rounds: int = 1) -> float:
    """Return XLA's time between nodes: rounds (n-1)/g (B/n/NIC 1.025 + chunks + trip) + launch.

    Bandwidth and times are scaled by 0.45. rounds: 2 for an all-reduce.
    """
    model = NETWORKS[machine]
    nic, trip, chunk, launch = [number * _SCALE for number in model]
    part = size / n
    chunks = part / _CHUNK * chunk
    return rounds * (n - 1) / per_node * (part / nic * _HEADER + chunks + trip) + launch
