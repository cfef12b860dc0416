"""An answer that exhausts memory is a failed check with a next step; memory is freed again."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.course.checking.deadline import AnswerTooLargeError, Watch

pytestmark = pytest.mark.skipif(
    sys.platform != "linux",
    reason="only Linux limits what a process maps: memory of answers is NOT limited here",
)


def all_at_once(*_: Any) -> Any:
    return bytearray(1 << 40)


def a_list_of_everything(*_: Any) -> Any:
    return [0] * (1 << 36)


def piece_by_piece(*_: Any) -> Any:
    kept = []
    while True:
        kept.append(bytearray(1 << 24))


def an_array(*_: Any) -> Any:
    return np.zeros((1 << 20, 1 << 20))


def keeps_trying(*_: Any) -> Any:
    kept = []
    while True:
        try:
            kept.append(bytearray(1 << 24))
        except MemoryError:
            continue


@pytest.fixture(autouse=True)
def little() -> Any:
    with xe.options.set(memory_limit=256 << 20, timeout=1):
        yield


@pytest.mark.parametrize("name", ["nb01.strides", "nb03.dce", "nb08.assign"])
@pytest.mark.parametrize("answer", [all_at_once, a_list_of_everything, piece_by_piece, an_array])
def test_a_memory_bomb_is_a_failed_check(name: str, answer: Any) -> None:
    result = xe.course.check(name, answer)
    assert result.status == "failed" and result.failure.code == "too-large", repr(result)
    assert "more than 0.25 GiB of memory, in line" in repr(result) and "next step" in repr(result)
    assert result.failure.module is not None or result.failure.arguments, "it says on what"


@pytest.mark.long
def test_who_catches_what_is_missing_is_too_slow() -> None:
    result = xe.course.check("nb03.dce", keeps_trying)
    assert result.failure is not None and result.failure.code == "too-slow", repr(result)


def test_memory_is_there_again_afterwards() -> None:
    with Watch() as watch:
        with pytest.raises(AnswerTooLargeError):
            watch.call(all_at_once)
        assert watch.call(len, b"four") == 4
    assert len(bytearray(512 << 20)) == 512 << 20
