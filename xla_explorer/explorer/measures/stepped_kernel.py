"""A GPU kernel stepped by hand on the PTX emulator: the places of warps, the values of lanes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from xla_explorer.explorer.display import Blocks, Layout, Report, Table, escape, wide_frame
from xla_explorer.foundation.diagnostic import XlaExplorerError

if TYPE_CHECKING:
    import pandas

    from xla_explorer.backends.gpu.emulator import WarpStepper

COLUMNS = ("warp", "state", "line", "next", "active", "hlo")
_AROUND = 8  # lines of PTX shown before and after the one that runs next
_CELL = "padding:0 4px;text-align:left;line-height:1.35"
_MOST_STEPS = 1_000_000  # of `run_to`


class SteppedKernel(Report):
    """The first launch of a kernel, after all earlier ones: `session.emulation().stepper(kernel)`.

    `step()` and `run_to()` return the object itself, so a cell that ends with them shows the places
    of the warps. warps: a row per warp of the block. findings: a row per fault so far.
    """

    def __init__(self, stepper: WarpStepper, text: str, hlo: Callable[[int | None], str]) -> None:
        self._stepper, self._lines, self._hlo = stepper, text.splitlines(), hlo
        self._warp = 0

    # -- moving ------------------------------------------------------------------------------------
    def step(self, warp: int | None = None, count: int = 1) -> SteppedKernel:
        """Run the next instructions of a warp; None: of the first warp that can go on, each time.

        XlaExplorerError when it cannot.
        """
        for _ in range(count):
            able = self._stepper.runnable
            self._warp = warp if warp is not None else able[0] if able else self._warp
            if self._stepper.step(warp) is None:
                break
        return self

    def run_to(self, place: int | str, warp: int = 0) -> SteppedKernel:
        """Step a warp up to a place; other warps run only while it waits.

        The place is a PTX line, an HLO instruction (`%add`) or an opcode (`bar.sync`) of the warp's
        next instruction. XlaExplorerError if the warp ends before.
        """
        self._warp = warp
        for _ in range(_MOST_STEPS):
            following = self._stepper.next(warp)
            if following is not None and (
                place in (following.line, self._hlo(following.origin))
                or _begins(following.opcode, place)
            ):
                return self
            able = self._stepper.runnable
            if not able:
                break
            self._stepper.step(warp if warp in able else None)
        what = f"PTX line {place}" if isinstance(place, int) else place
        raise XlaExplorerError(
            f"warp {warp} does not come to {what}",
            "see .warps for where warps are; .findings for what went wrong",
        )

    # -- looking -----------------------------------------------------------------------------------
    def registers(self, warp: int | None = None, floats: bool = False) -> pandas.DataFrame:
        """Return a row per lane of a warp, by default the last stepped one.

        A column has one written register, and one is True for active lanes. floats: show
        32-bit registers as f32. PTX gives most of them no type, and by default they are integers.
        """
        frame: pandas.DataFrame = self._stepper.to_frame(self._warp if warp is None else warp)
        if floats:
            import numpy as np

            for name in [
                name
                for name in frame.columns
                if frame[name].dtype.kind in "iu" and frame[name].dtype.itemsize == 4
            ]:
                frame[name] = frame[name].to_numpy().view(np.float32)
        return frame

    @property
    def warps(self) -> pandas.DataFrame:
        """A row per warp.

        state: `can go on`, the reason to wait, or `has ended`. line, next: its next PTX
        instruction. active: lanes.
        """
        return wide_frame(self._rows(), list(COLUMNS)).astype({"line": "Int64"})

    @property
    def findings(self) -> pandas.DataFrame:
        """Faults so far."""
        rows = [
            (f.kind, f.line, f.text, self._hlo(f.origin), f.count, f.example)
            for f in self._stepper.findings
        ]
        return wide_frame(rows, ["kind", "line", "ptx", "hlo", "count", "example"])

    def _rows(self) -> list[dict[str, Any]]:
        stepper, able = self._stepper, set(self._stepper.runnable)
        rows = []
        for warp in range(stepper.warps):
            waits, following = stepper.waits_for(warp), stepper.next(warp)
            state = "can go on" if warp in able else f"waits {waits}" if waits else "has ended"
            line, text = (following.line, following.text) if following is not None else (None, "")
            origin = self._hlo(following.origin) if following is not None else ""
            rows.append(
                dict(
                    zip(
                        COLUMNS,
                        (warp, state, line, text, int(stepper.active(warp).sum()), origin),
                        strict=True,
                    )
                )
            )
        return rows

    def headline(self) -> str:
        """Return the place of the last stepped warp, and the number of warps that can continue."""
        rows = self._rows()
        going = sum([row["state"] == "can go on" for row in rows])
        faults = (
            f", {len(self._stepper.findings)} kinds of faults" if self._stepper.findings else ""
        )
        here = rows[self._warp]
        at = (
            f"next, line {here['line']}: {here['next']}"
            if here["line"] is not None
            else here["state"]
        )
        return f"SteppedKernel {self._stepper.kernel.name}: {going} of {len(rows)} warps can go on{faults}; warp {self._warp} {at}"

    def records(self) -> Table:
        """Return a row per warp, with the columns `COLUMNS`."""
        return Table(COLUMNS, [[row[column] for column in COLUMNS] for row in self._rows()])

    def blocks(self) -> Blocks:
        """Yield the PTX around the warps in HTML, else a row per warp."""
        yield Layout(self._place(), self.records().to_text(), self.records().to_markdown())

    def _place(self) -> str:
        """Return the PTX around the last stepped warp, with the places of all warps, as HTML."""
        rows = self._rows()
        standing: dict[int, list[int]] = {}
        for row in rows:
            if row["line"] is not None:
                standing.setdefault(row["line"], []).append(row["warp"])
        here = rows[self._warp]["line"] or min(standing, default=1)
        body = []
        for number in range(max(here - _AROUND, 1), min(here + _AROUND, len(self._lines)) + 1):
            # Other rows take the page's own colours, light or dark.
            style = "background:#fff3bf;color:#000" if number == here else "background:none"
            who = f"&#9664; {_ranges(standing[number])}" if number in standing else ""
            body.append(
                f'<tr style="{style}"><td style="{_CELL};text-align:right;opacity:0.6">{number}</td>'
                f'<td style="{_CELL};white-space:pre;padding-left:8px">{escape(self._lines[number - 1].expandtabs())}</td>'
                f'<td style="{_CELL};padding-left:16px"><b>{who}</b></td></tr>'
            )
        by_state: dict[str, list[int]] = {}
        for row in rows:
            by_state.setdefault(row["state"], []).append(row["warp"])
        states = "; ".join(
            [f"{_ranges(warps)}: {escape(state)}" for state, warps in by_state.items()]
        )
        return (
            f'<div style="font-size:12px">'
            '<table style="font-family:monospace;border-collapse:collapse">'
            f"{''.join(body)}</table><p>{states}</p></div>"
        )


def _begins(opcode: str, place: int | str) -> bool:
    """Return True if an opcode begins with these parts, as `ld.shared.b32` with `ld.shared`."""
    return isinstance(place, str) and (opcode + ".").startswith(place + ".")


def _ranges(warps: list[int]) -> str:
    """Return `warps 0-3, 7` of ascending numbers."""
    parts: list[list[int]] = []
    for warp in warps:
        if parts and parts[-1][-1] == warp - 1:
            parts[-1].append(warp)
        else:
            parts.append([warp])
    text = ", ".join([f"{part[0]}-{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts])
    return f"warp{'s' if len(warps) > 1 else ''} {text}"
