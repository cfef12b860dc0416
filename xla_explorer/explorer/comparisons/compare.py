"""`xe.compare`: compiles, backends, fusions, programs, signatures, structures and texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from xla_explorer.compiler.pipeline.default_pipelines import PipelineLike
from xla_explorer.explorer.comparisons.comparison import (
    Comparison,
    compare_backends,
    compare_sessions,
    diff,
)
from xla_explorer.explorer.comparisons.fusion_comparison import compare_fusions
from xla_explorer.explorer.comparisons.program_comparison import compare_programs
from xla_explorer.explorer.comparisons.structural_difference import structural_diff
from xla_explorer.explorer.sessions.arguments import random_arguments
from xla_explorer.explorer.sessions.call_signatures import diff_signatures
from xla_explorer.explorer.sessions.compilation import Compilation
from xla_explorer.explorer.sessions.loading import ModuleLike
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.keywords import explains_arguments

if TYPE_CHECKING:
    import pandas


class Compare:
    """Compare compiles and programs.

    `xe.compare(module, *arrays)` is one table for several backends, `xe.compare(session, other,
    *arrays)` puts two compiles side by side. `xe.compare.fusions`, `.programs`, `.signatures`,
    `.structure` and `.text` compare one property each.
    """

    fusions = staticmethod(compare_fusions)
    programs = staticmethod(compare_programs)
    signatures = staticmethod(diff_signatures)
    structure = staticmethod(structural_diff)
    text = staticmethod(diff)

    @overload
    def __call__(
        self, module: Compilation, other: Compilation, /, *arrays: Any, repeats: int = 10
    ) -> Comparison: ...
    @overload
    def __call__(
        self,
        module: ModuleLike,
        *arrays: Any,
        backends: Sequence[str] | str = ("cpu", "interpreter"),
        repeats: int = 10,
        passes: PipelineLike = "default",
    ) -> pandas.DataFrame: ...
    @explains_arguments
    def __call__(
        self,
        module: ModuleLike,
        *arrays: Any,
        backends: Sequence[str] | str = ("cpu", "interpreter"),
        repeats: int = 10,
        passes: PipelineLike = "default",
    ) -> pandas.DataFrame | Comparison:
        """Compare one module on several backends, or two sessions.

        Parameters
        ----------
        module : HloModule, str, Path or Session
            The module; of two sessions the first, with the second as the first of `arrays`.
        *arrays
            The arguments, the same for all; random ones if missing.
        backends : sequence of str
            The backends, or one text with commas. An emulated GPU runs once and has no times.
        repeats : int
            Timed runs.
        passes : str or PassPipeline
            The pipeline for every backend.

        Returns
        -------
        DataFrame
            For each backend a row for the whole program and one for each kernel. Columns: backend,
            those of `Session.profile`, max_error (largest error of the results over the largest
            value, against the evaluator, on the row of the whole program), status (`ok`, or the
            reason why the backend did not run). Of two sessions: a `Comparison`.
        """
        if isinstance(module, Compilation) and arrays and isinstance(arrays[0], Compilation):
            other, given = arrays[0], arrays[1:]
            return compare_sessions(
                module, other, given or random_arguments(module.source), repeats
            )
        if any(_names_backends(given) for given in arrays):
            raise XlaExplorerError(
                "the arguments of the program must be arrays, got names of backends",
                'name them by backends=: xe.compare(module, *arrays, backends=["cpu", "gpu"])',
            )
        return compare_backends(module, backends, arrays, repeats, passes)

    def __repr__(self) -> str:
        return "<xe.compare(module, *arrays); .fusions .programs .signatures .structure .text>"


def _names_backends(given: Any) -> bool:
    """Return True if an argument is a name, or a list of names."""
    names = given if isinstance(given, list | tuple) and given else [given]
    return all(isinstance(name, str) for name in names)


compare = Compare()
