"""Names of the devices; JAX's own CPU is beside them without a request."""

from __future__ import annotations

import pytest

from tests.pjrt.child import needs_jax, output

needs_jax()
pytestmark = [pytest.mark.long, pytest.mark.jax, pytest.mark.usefixtures("runs_here")]

PROGRAM = """
import jax, jax.numpy as jnp, numpy as np
from xla_explorer import pjrt

print(jax.default_backend(), type(jax.devices("cpu")[0].client) is type(jax.devices()[0].client), len(pjrt.sessions))
called = lambda x: jax.pure_callback(lambda v: np.sin(v), jax.ShapeDtypeStruct((3,), jnp.float32), x * 2)
both = [jax.device_put(jnp.ones(3), d) for d in (jax.devices()[0], jax.local_devices(backend="cpu")[0])]
for x in both:
    np.testing.assert_allclose(jax.jit(called)(x), np.sin(np.full(3, 2.0)), rtol=1e-6)
    jax.jit(lambda x: jax.debug.print("{}", x.sum()))(x)
    jax.effects_barrier()
np.testing.assert_allclose(jnp.linalg.eigvalsh(jnp.eye(3) * 2), [2, 2, 2])
np.testing.assert_array_equal(np.from_dlpack(jnp.arange(4)), np.arange(4))
exported = jax.export.export(jax.jit(lambda x: x + 1), platforms=[jax.default_backend(), "tpu"])(jnp.ones(3))
np.testing.assert_array_equal(exported.call(jnp.ones(3)), np.full(3, 2.0))
print(sum("called" in s.source.name or "lambda" in s.source.name for s in pjrt.sessions) > 1)
"""


@pytest.mark.parametrize("name", ["xla_explorer", "cpu"])
def test_devices_bear_the_name_that_a_program_wants(name: str) -> None:
    lines = output(PROGRAM, platforms="xla_explorer", XLA_EXPLORER_PJRT_PLATFORM=name).splitlines()
    assert lines[0].split()[0] == name
    assert lines[1:] == ["3.0", "3.0", "True"]
