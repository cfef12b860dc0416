"""JAX's and XLA's linear algebra calls on numpy, a file per decomposition.

Values are logical arrays with leading batch dimensions, so the column-major layouts of these calls
do not matter. By default a function computes in double precision and rounds once. A matrix without
a result (singular, not finite, no convergence) gets NaN and a nonzero info, as from LAPACK; the
rest of its batch is not affected. Sources: jaxlib/cpu/lapack_kernels.h for names, results and
attributes; LAPACK Users' Guide for the packed forms.
"""

from __future__ import annotations

from xla_explorer.hlo.evaluator.lapack import (
    condensed_forms,
    eigenvalues,
    factorizations,
    schur,
    tridiagonal_systems,
)

# Each module registers its custom calls on import.
_FAMILIES = (condensed_forms, eigenvalues, factorizations, schur, tridiagonal_systems)
