"""JAX's and XLA's linear algebra calls on numpy, a file per decomposition.

Values are logical arrays (leading dimensions are a batch), so that the column-major layouts which these calls ask for play no part.
Unless a function says otherwise, it computes in double precision and rounds once. A matrix that the routine cannot do (singular, not
finite, no convergence) gets NaN and a nonzero info, which is what JAX expects of LAPACK; the others of its batch are not touched.
Sources: jaxlib/cpu/lapack_kernels.h for names, results and attributes; LAPACK Users' Guide for the packed forms.
"""

from __future__ import annotations

from xla_explorer.hlo.evaluator.lapack import (
    condensed_forms,
    eigenvalues,
    factorizations,
    schur,
    tridiagonal_systems,
)

# Each registers its custom calls when it is imported.
_FAMILIES = (condensed_forms, eigenvalues, factorizations, schur, tridiagonal_systems)
