"""Shapes in use are one object each; unused ones are freed."""

import gc
import weakref

from xla_explorer.hlo import shape as shapes
from xla_explorer.hlo.shape import array_shape, parse_shape, tuple_shape


def test_tables_of_shapes_are_bounded_and_live_shapes_stay_one_object(monkeypatch):
    monkeypatch.setattr(shapes, "_MOST_REMEMBERED", 100)
    kept = array_shape("f32", (987, 3))
    pair = tuple_shape((kept, kept))
    turned = parse_shape("f32[987,3]{0,1}")
    gone = weakref.ref(array_shape("f32", (986, 5, 1)))
    for n in range(300):
        array_shape("f32", (1000 + n, 77))
        parse_shape(f"(f32[{n},78], s32[])")
    gc.collect()
    assert len(shapes._BY_TEXT) <= 101 and len(shapes._BY_KEY) <= 100
    assert gone() is None
    assert (
        parse_shape("f32[987,3]") is kept
        and array_shape("f32", (987, 3)) is kept
        and turned.base is kept
    )
    assert parse_shape("(f32[987,3]{1,0}, f32[987,3])") is pair and pair.base is pair
    assert array_shape("f32", (987, 3), turned.layout) is turned
