"""Sharded programs of JAX and XLA's propagation: each is one native program with XLA's values.

The corpus is `spmd` beside the checkout.
"""

from __future__ import annotations

import gzip
import json
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from tests.frontends.worlds_agreement import errors, leaves
from tests.support.corpora import SHARED
from xla_explorer.frontends.stablehlo import parse_stablehlo

DATA = SHARED / "spmd" / "programs"
RECORDS = sorted(path.name.removesuffix(".json.gz") for path in DATA.glob("*.json.gz"))


def arrays(values: Any, *kinds: str) -> list[Any]:
    """`in0`, `in1`, ... of a file; of several kinds the first one that it has."""
    rows = []
    while found := [name for kind in kinds if (name := f"{kind}{len(rows)}") in values]:
        rows.append(values[found[0]])
    return rows


@pytest.mark.slow
@pytest.mark.parametrize(
    "record", RECORDS or [pytest.param("none", marks=pytest.mark.skip("needs ../shared/spmd"))]
)
def test_a_record_runs_natively(record: str) -> None:
    texts = json.loads(gzip.decompress((DATA / f"{record}.json.gz").read_bytes()))
    values = np.load(DATA / f"{texts['name']}.npz")
    given = arrays(values, "in")
    for key in ("stablehlo", "hlo_before", "hlo_before_spmd"):
        session = xe.compile(
            parse_stablehlo(texts[key], "p.mlir")
            if key == "stablehlo"
            else xe.parse_hlo(texts[key])
        )
        assert not [
            step.name for step in session.executable.steps if step.runs_on == "evaluator"
        ], key
        kept = (
            given
            if len(session.module.entry.parameters()) == len(given)
            else [given[k] for k in texts["kept_inputs"]]
        )
        # Where XLA's own result is wrong the file has the right one, too.
        assert errors(leaves(session(*kept)), arrays(values, "right", "out")) < 1e-5, key
