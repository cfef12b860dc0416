"""A compiled program: what its executables share, and the programs that its devices run."""

from __future__ import annotations

import hashlib
import threading
from functools import cached_property

from xla_explorer.backends.cpu.activation import NativeCalls
from xla_explorer.backends.interfaces import DevicesProgram
from xla_explorer.explorer.session import Session
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.analysis.cost import Cost, module_cost
from xla_explorer.pjrt.devices import KINDS
from xla_explorer.pjrt.plugin_options import DISPATCHES
from xla_explorer.pjrt.program import Compiled, donated_parameters, hlo_with_config
from xla_explorer.pjrt.records import Text
from xla_explorer.pjrt.sharded.device_runs import program_of_devices
from xla_explorer.pjrt.sharded.devices_layout import Layout


class CompiledProgram:
    """A compiled program, shared by several executables.

    jaxlib requests a loaded and an unloaded executable, and destroys both.
    """

    def __init__(
        self,
        code: bytes,
        compiled: Compiled,
        partitions: int = 1,
        dispatch: str = "adaptive",
        replicas: int = 1,
    ) -> None:
        session = compiled.session
        self.code, self.name, self.patience = code, session.source.name, DISPATCHES[dispatch]
        self.replicas, self.device_runs = replicas, compiled.device_runs
        self.replicated = (
            session.source if replicas > 1 else None
        )  # each replica has arguments of its own
        self.layout = (
            Layout(session.source, partitions, compiled.terms, compiled.entry.shardings)
            if partitions > 1
            else None
        )
        self.fingerprint = hashlib.sha256(code).hexdigest()
        self.executable = session.executable
        self.results = [leaf for _, leaf in session.source.result_shape().leaves()]
        self.parameters = [
            leaf for p in session.source.entry.parameters() for _, leaf in p.shape.leaves()
        ]
        self.donated = donated_parameters(session.source)
        native_code = getattr(session.executable, "compiled", None)
        self.code_size = sum(map(len, native_code.images)) if native_code is not None else 0
        self.temporary = int(
            getattr(getattr(session.executable, "assignment", None), "arena_size", 0)
        )
        self._module = session.module
        self._session: Session | None = session
        self._optimized: Text | None = None
        calls = getattr(session.executable, "native_calls", None)
        self.orders, self._entry = compiled.entry.layouts, compiled.entry
        in_python = self.layout is not None or self.replicated is not None or bool(self.orders)
        self.calls: NativeCalls | None = calls() if calls is not None and not in_python else None
        self._for_devices = session if self.device_runs == "partitioned" else None
        self._of_devices: DevicesProgram | Reason | None = None
        self._making = threading.Lock()

    def of_devices(self) -> DevicesProgram | None:
        """Return the program that each device runs, compiled at the first run.

        None for a program of one device, or one that is joined.
        """
        with self._making:
            if self._for_devices is not None and (self.layout is not None or self.replicas > 1):
                self._of_devices = program_of_devices(self._for_devices, self.layout, self.replicas)
            self._for_devices = None
        return None if isinstance(self._of_devices, Reason) else self._of_devices

    @cached_property
    def cost(self) -> Cost:
        """Of the optimised module."""
        return module_cost(self._module)

    def device_bytes(self) -> tuple[list[int], list[int]]:
        """Return the bytes that one device has of each parameter and of each result."""
        if self.layout is not None:
            return self.layout.device_bytes()
        given, made = [
            [s.byte_size if s.is_array else 0 for s in shapes]
            for shapes in (self.parameters, self.results)
        ]
        return given, made

    def kind(self, k: int) -> str:
        """Return the memory kind of result k."""
        return self._entry.memories[k] if k < len(self._entry.memories) else KINDS[0]

    def optimized(self) -> Text:
        """Return the HloModuleProtoWithConfig; the first call makes it and releases the session."""
        if self._optimized is None:
            assert self._session is not None
            self._optimized = Text(
                hlo_with_config(self._session, self.code, self._entry, self.layout, self.replicas)
            )
            self._session = None
        return self._optimized
