"""`session.devices`: a program on several devices, with every question as a method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from xla_explorer.explorer.asking.question import Cost, question
from xla_explorer.explorer.devices.device_calls import CallsOfDevices, answers
from xla_explorer.explorer.devices.shardings import Sentences, shardings_frame, why_sharded
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.keywords import explains_methods
from xla_explorer.hlo.module import HloModule

if TYPE_CHECKING:
    import pandas

    from xla_explorer.compiler.spmd.explanation.annotating import Spec
    from xla_explorer.compiler.spmd.explanation.collective_rows import PlacedProgram
    from xla_explorer.compiler.spmd.propagation.report import ShardingReport
    from xla_explorer.explorer.devices.comparison import DevicesComparison
    from xla_explorer.explorer.devices.found_shardings import ShardingSearch
    from xla_explorer.explorer.devices.memory import DeviceMemory
    from xla_explorer.explorer.devices.overlap import Overlap
    from xla_explorer.explorer.devices.partitioning_comparison import PartitioningComparison
    from xla_explorer.explorer.devices.why_collective import WhyCollective
    from xla_explorer.explorer.devices.wrong_parts import PartitionBisection
    from xla_explorer.explorer.sessions.compilation import Compilation
    from xla_explorer.hlo.attributes.mesh import Mesh

DEFAULT_MACHINE = "h100"


@explains_methods
class Devices(CallsOfDevices):
    """A program on several devices: shardings, the partitioned program, and its collectives.

    Shardings are propagated from the annotations of the program as given, Shardy's way. Times are
    estimates of a cost model on a named machine. A call takes whole arrays, runs the partitioned
    program on virtual devices, and returns whole results.

    Attributes
    ----------
    topology : str
        The machine: `h100`, `a100`, `b200`, `tpu-v4` to `tpu-v6e`, or `cpu`.
    policy : str
        `cost`: the partitioner takes the fewest bytes; `xla`: XLA's order of choices.
    base : Devices or None
        Of a what-if, the devices that it changes.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> session = xe.compile('''HloModule m, num_partitions=2
    ... ENTRY main {
    ...   x = f32[8] parameter(0), sharding={devices=[2]<=[2]}
    ...   ROOT y = f32[8] negate(x), sharding={replicated}
    ... }''')
    >>> list(session.devices.shardings["tiles"])
    ['{devices=[2]<=[2]}', '{replicated}']
    >>> list(session.devices.collectives["sent_bytes"])
    [16.0]
    """

    def __init__(
        self,
        module: HloModule,
        topology: str = DEFAULT_MACHINE,
        policy: str = "cost",
        base: Devices | None = None,
        session: Compilation | None = None,
    ) -> None:
        super().__init__(module, base, session)
        self.topology, self.policy, self.base = topology, policy, base
        self._windowed_mib = -1

    @property
    def given_module(self) -> HloModule:
        """The program with its annotations, before propagation."""
        return self._module

    @cached_property
    def placed(self) -> PlacedProgram:
        """The partitioned program on the machine, with every record."""
        program = answers().recorded_partitioning(self._module, self.policy, self._windowed_mib)
        place = answers().Topology.named(program.mesh, self.topology)
        found: PlacedProgram = answers().PlacedProgram(program, place)
        return found

    @cached_property
    def _report(self) -> ShardingReport:
        found: ShardingReport = answers().sharding_report(self._module)
        return found

    # -- shardings ---------------------------------------------------------------------------------
    @property
    @question("devices", is_property=True, noun="sharding")
    def shardings(self) -> pandas.DataFrame:
        """One row per value: its sharding as axes and tiles, local shape, bytes and origin."""
        return shardings_frame(self._report)

    @question("devices")
    def why_sharded(
        self, value: str, dimension: int | None = None, *, axis: str | None = None
    ) -> list[str]:
        """Return the steps that split a value, back to the user's annotation.

        Parameters
        ----------
        value : str
            The name of an instruction of the program as given.
        dimension : int
            Only this dimension.
        axis : str
            Return why the value is not split along this axis of the mesh.

        Raises
        ------
        XlaExplorerError
            No value of this name has a sharding; with near names.
        """
        return why_sharded(self._report, value, dimension, axis)

    @question("devices", noun="propagation step")
    def steps(self, value: str | None = None) -> pandas.DataFrame:
        """Return one row per step of the propagation: the value, its new axis, rule and origin.

        Parameters
        ----------
        value : str, optional
            Only the steps of this value.
        """
        return answers().propagation_frame(self.placed, value)

    @question("devices")
    def dropped(self) -> list[str]:
        """Return a sentence for each annotation that is not kept, because it does not divide."""
        found = [str(one) for one in answers().dropped_axes(self._module, self._report)]
        return Sentences(found or ["every annotation is kept"])

    # -- the partitioned program -------------------------------------------------------------------
    @property
    def partitioned(self) -> HloModule:
        """The program of one device, before its optimisation."""
        return self.placed.program.module if self._session is None else self._compiled.module

    @property
    @question("devices", is_property=True, noun="collective")
    def collectives(self) -> pandas.DataFrame:
        """One row per collective: bytes, axes, link, estimated and exposed time, cause, line."""
        return answers().collectives_frame(self.placed)

    @question("devices", noun="collective")
    def collectives_after(self, *passes: str) -> pandas.DataFrame:
        """Return the collectives after later passes, with the causes of those that they replace.

        Parameters
        ----------
        *passes
            Names of passes, such as `all-reduce-combiner` and `reduce-scatter-creator`.

        Raises
        ------
        PipelineSyntaxError
            A name is unknown; with near names.
        """
        found = answers().collectives_after(self.placed, passes)
        return answers().collectives_frame(self.placed, found)

    @question("devices")
    def why(self, collective: str) -> WhyCollective:
        """Return why a collective is there: reshard or choice, operation, annotations, changes.

        Parameters
        ----------
        collective : str
            Its name in `collectives`.

        Raises
        ------
        XlaExplorerError
            No collective has this name; with near names.
        """
        found = answers().collective_named(self.placed, collective)
        changes = answers().changes_for(
            self.placed, found, self.figures(), lambda specs: self.what_if(specs).figures()
        )
        why: WhyCollective = answers().WhyCollective(self.placed, found, changes)
        return why

    @question("devices", noun="partition choice")
    def choices(self, kind: str | None = None) -> pandas.DataFrame:
        """Return one row per way that the partitioner compared, with bytes and reasons.

        Parameters
        ----------
        kind : str, optional
            `reshard`, `dot-strategy`, `gather-method`, `scatter-method`, `convolution-strategy` ...
        """
        return answers().choices_frame(self.placed, kind)

    @property
    @question("devices", is_property=True, noun="link")
    def links(self) -> pandas.DataFrame:
        """One row per axis of the mesh: its links, and the bytes sent along it in a step."""
        return answers().links_frame(self.placed)

    @question("devices", noun="slot")
    def timeline(self) -> pandas.DataFrame:
        """Return one row per kernel and collective of a simulated step: lane, start and time."""
        return answers().timeline_frame(self.placed)

    @question("devices")
    def overlap(self, *passes: str) -> Overlap:
        """Return each collective's exposed time, the work that could hide it, what forbids it.

        Parameters
        ----------
        *passes : str
            Passes that the device's program goes through first. After
            `async-collective-creator, latency-hiding-scheduler` the step runs in the order of the
            schedule: a start begins a transfer and a done waits for it.
        """
        found: Overlap = answers().overlap(self.placed, passes)
        return found

    @question("devices")
    def memory_per_device(self) -> DeviceMemory:
        """Return the values of one device, with copies, gathered arrays and padding."""
        found: DeviceMemory = answers().device_memory(self.placed)
        return found

    # -- other machines and shardings --------------------------------------------------------------
    def on(
        self,
        topology: str | None = None,
        policy: str | None = None,
        windowed_einsum_mib: int = -1,
    ) -> Devices:
        """Return the same program on another machine, or by other choices of the partitioner.

        Parameters
        ----------
        topology : str, optional
            A machine, such as `tpu-v5p`.
        policy : str, optional
            `cost` or `xla`.
        windowed_einsum_mib : int, optional
            Gathered operands and scattered results from this size on make a product a loop of
            products, which hides the transfers. By default none, and from 256 by the policy `xla`.

        Raises
        ------
        UnknownMachineError, ShardingError
            No machine, or no policy, has the name.
        """
        if topology is not None and topology.lower() != "cpu":  # which is measured at first use
            answers().machine_of(topology)
        answers().require_policy(policy or self.policy)
        made = Devices(self._module, topology or self.topology, policy or self.policy, self)
        made._windowed_mib = windowed_einsum_mib
        return made

    def what_if(self, shardings: Mapping[str, Spec] | str) -> Devices:
        """Return the devices of the program with other annotations.

        `.compare()` of the result shows the effect. Only propagation, partitioning and the cost
        model run; a call of the result compiles it.

        Parameters
        ----------
        shardings : mapping or str
            By the name of an argument or instruction: the axes of each dimension, as in
            `{"w1": (None, "model")}` or `w1=-,model; x=data,-`.

        Raises
        ------
        ShardingError
            A name is unknown, or a sharding does not fit.
        """
        module = answers().annotated(self._module, None, shardings)
        return Devices(module, self.topology, self.policy, self)

    @question("devices", name="what_if", cost=Cost.INSTANT)
    def _what_if_compared(self, shardings: str) -> DevicesComparison:
        """Return what other annotations would change: bytes, times, memory, collectives.

        Parameters
        ----------
        shardings : str
            The axes of each dimension by value, `w1=-,model; x=data,-`.
        """
        return self.what_if(shardings).compare()

    @question("devices", cost=Cost.COMPILES)
    def search(
        self,
        mesh: Mesh | Mapping[str, int] | str | None = None,
        *,
        over: Sequence[str] = (),
        keep: Mapping[str, Spec] | str | None = None,
        memory: str | int | None = None,
        seconds: float = 10.0,
        most: int = 1000,
    ) -> ShardingSearch:
        """Return the best shardings of the arguments by the cost model, with usual ones beside.

        Results follow the arguments.

        Parameters
        ----------
        mesh : Mesh, mapping or str, optional
            `data=2,model=4`; by default the mesh of the program.
        over : sequence of str
            The arguments to search; by default all that `keep` does not name.
        keep : mapping or str, optional
            Shardings that stay, `w1=-,model; x=data,-`.
        memory : str or int, optional
            Of a device, `80GB` or bytes; by default that of the machine.
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
        """
        kept = answers().read_specs(keep) if isinstance(keep, str) else dict(keep or {})
        placed = answers().inlined(answers().annotated(self._module, mesh, kept))
        devices = Devices(placed, self.topology, self.policy)
        found: ShardingSearch = answers().searched(
            devices, over, tuple(kept), memory, (seconds, most)
        )
        return found

    def compare(self, other: Devices | None = None) -> DevicesComparison:
        """Compare with other devices: bytes, exposed time, memory, collectives that came and went.

        Parameters
        ----------
        other : Devices, optional
            By default those that this what-if changes.

        Raises
        ------
        XlaExplorerError
            No devices were given, and this is no what-if.
        """
        before = other or self.base
        if before is None:
            raise XlaExplorerError(
                "these devices change no others", "give the devices to compare with: a.compare(b)"
            )
        tables = before.collectives, self.collectives
        found: DevicesComparison = answers().compare_devices(
            before.figures(), self.figures(), tables
        )
        return found

    def bisect(
        self, *arrays: Any, partitioned: HloModule | str | None = None
    ) -> PartitionBisection:
        """Find the first value that differs on a device from the whole program's, by the evaluator.

        Parameters
        ----------
        *arrays
            Whole arrays, the arguments of the program.
        partitioned : HloModule or str, optional
            The program of one device by another partitioner, such as XLA's text after
            `spmd-partitioning`. By default that of these devices.

        Raises
        ------
        XlaExplorerError
            No value of the partitioned program corresponds to one of the whole program.
        """
        found: PartitionBisection = answers().bisection(self.placed.program, arrays, partitioned)
        return found

    @question("devices", cost=Cost.COMPILES)
    def compare_partitioning(
        self, propagation: str = "shardy", *, seconds: float = 120.0
    ) -> PartitioningComparison:
        """Return collectives, bytes and shardings here beside those of real XLA, with reasons.

        XLA:CPU of the installed jaxlib partitions the program for as many virtual devices, in a
        child process; nothing is run. Loops count once.

        Parameters
        ----------
        propagation : str
            Of XLA: `shardy` or `gspmd`.
        seconds : float
            The longest time of XLA.

        Raises
        ------
        XlaExplorerError
            XLA refuses the program, or jax is absent.
        """
        in_order = self if self.policy == "xla" else self.on(policy="xla")
        found: PartitioningComparison = answers().beside_xla(
            self.placed, in_order.placed, (self.policy, propagation, seconds)
        )
        return found

    def __repr__(self) -> str:
        return f"{len(self._report.rows)} values with shardings over {self._report.graph.mesh}"

    def figures(self) -> dict[str, Any]:
        """Return the figures of a step: bytes sent, times, peak memory, collectives."""
        placed = self.placed
        return {
            "sent_bytes": placed.sent,
            "collectives": len(placed.transfers),
            "step_us": placed.schedule.us,
            "compute_us": placed.schedule.compute_us,
            "exposed_us": placed.schedule.exposed_us,
            "peak_bytes": answers().peak_bytes(placed),
        }
