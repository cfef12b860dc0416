"""Families of kernels that are made from loop nests stay so, in whole programs."""

from __future__ import annotations

import pytest

from tests.compiler.codegen.nest.nest_shares import WORKLOADS, shares, table, workload, workloads
from tests.conformance.cross_conformance import harness, sample

needs_workloads = pytest.mark.skipif(
    not WORKLOADS.is_dir(), reason="the corpus of workloads is not beside the checkout"
)


def _at_least(found: dict[str, tuple[int, int]], least: dict[str, float]) -> None:
    low = {
        name: found.get(name)
        for name, share in least.items()
        if name not in found or found[name][0] < share * found[name][1]
    }
    assert not low, f"fewer nests than before in {', '.join(low)}:\n{table(found)}"


@needs_workloads
def test_kernels_of_small_workloads_are_nests() -> None:
    names = (
        "b_encoder_fwd_b4_s128_d256",
        "b_cnn_mnist_train_b32",
        "m_softmax_4096x1000",
        "m_layernorm_2048x768",
        "m_gelu_tanh_1e6",
    )
    _at_least(shares(map(workload, names)), {"elementwise": 0.9, "reductions": 0.9})


@needs_workloads
@pytest.mark.slow
def test_kernels_of_all_workloads_are_nests() -> None:
    found = shares(map(workload, workloads()))
    print(table(found))
    _at_least(
        found,
        {
            "elementwise": 1.0,
            "movement": 1.0,
            "by address": 0.8,
            "reductions": 1.0,
            "windows": 0.5,
            "products": 0.8,
        },
    )


@pytest.mark.slow
def test_kernels_of_conformance_cases_are_nests() -> None:
    corpus = harness()
    if corpus is None:
        pytest.skip("the conformance corpus is not beside the checkout")
    found = shares([case.hlo for case in sample(corpus, 600)])
    print(table(found))
    _at_least(
        found,
        {
            "elementwise": 0.98,
            "movement": 1.0,
            "by address": 0.8,
            "reductions": 0.95,
            "windows": 0.19,
            "products": 0.65,
        },
    )
