"""Equal attributes are one object while one of them lives, and are then forgotten."""

import gc

import xla_explorer as xe
from xla_explorer.hlo.attributes import attributes_of, interning
from xla_explorer.hlo.verifier import verify


def test_equal_attributes_are_one_object_even_when_the_short_way_has_forgotten_them():
    made = attributes_of({"dimensions": (3, 1, 4)})
    interning._RECENT.clear()
    assert attributes_of({"dimensions": (3, 1, 4)}) is made


def test_a_process_that_sees_ever_new_attributes_does_not_keep_them():
    for number in range(interning._MOST_RECENT + 500):
        attributes_of({"dimensions": (number, 77)})
    gc.collect()
    assert len(interning._RECENT) <= interning._MOST_RECENT
    # Other tests' modules may live; these attributes do not.
    assert (
        sum(dict(key).get("dimensions", ())[1:] == (77,) for key in list(interning._ALIVE.keys()))
        <= interning._MOST_RECENT
    )


def test_the_verifier_does_not_take_new_attributes_for_old_ones_at_the_same_address():
    for number in range(300):
        size = 5 + number % 7
        wrong = number % 3 == 0
        end = size + 1 if wrong else size
        first = number % 2
        module = xe.parse_hlo(
            f"HloModule m\nENTRY e {{ x = f32[{size}] parameter(0)\n ROOT y = f32[{end - first}] slice(x), slice={{[{first}:{end}]}} }}"
        )
        interning._RECENT.clear()
        try:
            verify(module)
            refused = False
        except xe.XlaExplorerError:
            refused = True
        assert refused == wrong
        del module
