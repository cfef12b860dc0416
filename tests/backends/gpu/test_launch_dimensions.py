"""Launch dimensions: every element has a thread, limits are kept, the sentence has the numbers."""

import pytest

from xla_explorer.backends.gpu.architecture import BLOCKS_IN_GRID, gpu_architecture
from xla_explorer.compiler.codegen.nest.launch_dimensions import launch_dimensions


@pytest.mark.parametrize(
    "threads", [0, 1, 31, 32, 33, 127, 128, 129, 1000, 270_335, 270_336, 270_337, 10**7, 2**33]
)
def test_every_element_has_a_thread(threads):
    architecture = gpu_architecture()
    launch = launch_dimensions(threads, architecture)
    assert launch.blocks * launch.threads_per_block >= threads
    assert (launch.blocks - 1) * launch.threads_per_block < max(threads, 1)
    assert (
        launch.threads_per_block % architecture.warp_size == 0 and launch.threads_per_block <= 1024
    )
    assert launch.blocks <= BLOCKS_IN_GRID
    assert str(max(threads, 1)) in launch.reasoning


def test_blocks_grow_when_the_device_is_full():
    architecture = gpu_architecture()
    assert (
        launch_dimensions(architecture.resident_threads - 1, architecture).threads_per_block == 128
    )
    assert launch_dimensions(architecture.resident_threads, architecture).threads_per_block == 256
    assert launch_dimensions(5, architecture)[:2] == (1, 32)
