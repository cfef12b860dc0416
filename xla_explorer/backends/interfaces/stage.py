"""A stage: one artifact between HLO and machine code, with a source map to instruction ids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text.printer import module_text_with_lines


class CompilationStage:
    """An artifact, produced on first use.

    name: `hlo`, `hlo-optimized`, `schedule`, `buffers`, `llvm-ir`, `llvm-ir-optimized`, `assembly`,
    `ptx`, `object` ... `origins` has, for each line of the text, the id of its (optimised) HLO
    instruction, or None. language: `hlo`, `llvm`, `asm`, `ptx`, `sass` ... for code, `text` for
    tables, `object` for bytes.
    """

    def __init__(
        self,
        name: str,
        produce: Callable[[], tuple[str | bytes, list[int | None]]],
        language: str = "text",
        compiler: str = "",
    ) -> None:
        self.name = name
        self.language = language
        self.compiler = compiler
        self._produce = produce
        self._content: tuple[str | bytes, list[int | None]] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the artifact with its content, which is produced for it."""
        return stage_of_content, (self.name, self._get(), self.language, self.compiler)

    def _get(self) -> tuple[str | bytes, list[int | None]]:
        if self._content is None:
            self._content = self._produce()
        return self._content

    @property
    def is_made(self) -> bool:
        """True if the content has been produced."""
        return self._content is not None

    @property
    def text(self) -> str:
        """The artifact as text. TypeError if it is binary."""
        content = self._get()[0]
        if isinstance(content, bytes):
            raise TypeError(f"stage {self.name} is binary: use .data")
        return content

    @property
    def data(self) -> bytes:
        """The artifact as bytes."""
        content = self._get()[0]
        return content if isinstance(content, bytes) else content.encode()

    @property
    def is_text(self) -> bool:
        """True if the artifact is text."""
        return isinstance(self._get()[0], str)

    @property
    def is_code(self) -> bool:
        """True for code other than HLO, tables (`text`) and bytes (`object`)."""
        return self.language not in ("hlo", "text", "object")

    @property
    def origins(self) -> list[int | None]:
        """One instruction id (or None) per line of the text."""
        return self._get()[1]

    def lines(self) -> list[tuple[str, int | None]]:
        """Return the text's lines with their instruction ids."""
        lines = self.text.splitlines()
        origins = self.origins
        return [(line, origins[k] if k < len(origins) else None) for k, line in enumerate(lines)]

    def __repr__(self) -> str:
        return f"<CompilationStage {self.name}>"


def hlo_stage(name: str, module: HloModule) -> CompilationStage:
    """Return a module as text with a source map."""

    def produce() -> tuple[str, list[int | None]]:
        text, lines = module_text_with_lines(module)
        return text, [lines.get(k + 1) for k in range(text.count("\n") + 1)]

    return CompilationStage(name, produce, "hlo")


def stage_of_content(
    name: str, content: tuple[str | bytes, list[int | None]], language: str, compiler: str
) -> CompilationStage:
    """Return a stage whose content is known: the artifact, and an instruction id for each line."""
    return CompilationStage(name, lambda: content, language, compiler)
