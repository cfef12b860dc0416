"""Metadata of instructions: the layers of a name scope."""

from __future__ import annotations

import pytest

from xla_explorer.hlo.metadata import layers_of_scope


@pytest.mark.parametrize(
    ("scope", "layers"),
    [
        ("jit(step)/jit(main)/jvp(Model)/Dense_0", ("jit(step)", "jit(main)", "Model", "Dense_0")),
        (
            "jit(step)/jit(main)/transpose(jvp(Model))/Dense_0",
            ("jit(step)", "jit(main)", "Model", "Dense_0"),
        ),
        (
            "jit(step)/transpose(jvp(Model/Dense_0))",
            ("jit(step)", "Model", "Dense_0"),
        ),  # one name around both
        ("jit(step)/jvp()/while", ("jit(step)", "while")),
        ("vmap(attention(8))", ("attention(8)",)),
        ("odd)", ("odd",)),
    ],
)
def test_a_layer_is_one_forward_and_backward(scope: str, layers: tuple[str, ...]) -> None:
    assert layers_of_scope(scope.split("/")) == layers
