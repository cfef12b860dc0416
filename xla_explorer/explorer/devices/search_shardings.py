"""`xe.sharding.search_shardings`: the search of `session.devices.search` without a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xla_explorer.compiler.spmd.explanation.annotating import Spec
from xla_explorer.explorer.devices.devices import DEFAULT_MACHINE, Devices
from xla_explorer.explorer.devices.found_shardings import ShardingSearch
from xla_explorer.hlo.attributes.mesh import Mesh
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text.parser import parse_hlo


def search_shardings(
    module: HloModule | str,
    mesh: Mesh | Mapping[str, int] | str | None = None,
    *,
    over: Sequence[str] = (),
    keep: Mapping[str, Spec] | str | None = None,
    memory: str | int | None = None,
    topology: str = DEFAULT_MACHINE,
    seconds: float = 10.0,
    most: int = 1000,
) -> ShardingSearch:
    """Return the best shardings of a program's arguments by the cost model.

    Baselines are compared too: as given, replicated, data parallel and FSDP. Results follow the
    arguments.

    Parameters
    ----------
    module : HloModule or str
        The program, or its HLO text; stays unchanged.
    mesh : Mesh, mapping or str, optional
        `{"data": 2, "model": 4}` or `data=2,model=4`; by default the mesh of the program.
    over : sequence of str
        The arguments to search; by default all that `keep` does not name.
    keep : mapping or str, optional
        Shardings that stay, as those of `xe.sharding.annotate`.
    memory : str or int, optional
        Of a device, `80GB` or bytes; by default that of the machine.
    topology : str
        The machine.
    seconds : float
        The longest time.
    most : int
        The most annotations that are costed.

    Raises
    ------
    ShardingError
        The mesh does not fit the program, or a kept sharding does not fit.
    XlaExplorerError
        `over` names no argument, or the memory is no size.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> found = xe.sharding.search_shardings('''ENTRY e {
    ...   x = f32[65536,512] parameter(0)
    ...   w = f32[512,512] parameter(1)
    ...   ROOT y = f32[65536,512] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    ... }''', "data=8", most=20)
    >>> found.specs()
    {'x': ('data', None), 'w': (None, None)}
    """
    read = parse_hlo(module) if isinstance(module, str) else module
    return Devices(read, topology).search(
        mesh, over=over, keep=keep, memory=memory, seconds=seconds, most=most
    )
