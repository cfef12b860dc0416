"""The address of an array's elements, read from the array object."""

import numpy as np
import pytest

from xla_explorer.backends.cpu import array_address


class _Named(np.ndarray):
    pass


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(()),
        np.arange(10)[3:],
        np.zeros((2, 3)).T,
        np.zeros((0, 4)),
        np.zeros(5).view(_Named),
        np.frombuffer(b"abcdefgh", np.int32),
    ],
)
def test_it_is_what_numpy_says(array):
    assert array_address.data_address(array) == array.__array_interface__["data"][0]


def test_the_short_way_is_taken_here():
    assert array_address.data_address is array_address._by_structure
