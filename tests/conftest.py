"""What all tests share: the table of malformed modules can be imported from every folder."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))


@pytest.fixture(autouse=True)
def jax_as_its_users_have_it() -> Iterator[None]:
    """What a test switches on in this process (64-bit types) is off for the next."""
    yield
    jax = sys.modules.get("jax")
    if jax is not None and getattr(jax.config, "jax_enable_x64", False):
        jax.config.update("jax_enable_x64", False)
