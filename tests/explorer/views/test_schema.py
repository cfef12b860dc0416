"""The data format: one schema for both sides; a script refuses data of another version."""

from __future__ import annotations

from typing import Any

import pytest

from tests.explorer.views.asset_script import AssetScript, quickjs
from tests.support.explorer_fakes import HostileSource, SoftmaxSource
from xla_explorer.explorer.page import schema
from xla_explorer.explorer.page.json_data import ExplorerPayload
from xla_explorer.explorer.page.payload import build_payload, packed, unpacked


@pytest.fixture(scope="module")
def script() -> AssetScript:
    return AssetScript()


def test_the_schema_of_the_script_is_current() -> None:
    assert schema.SCRIPT.read_text(encoding="utf-8") == schema.schema_script(), (
        "run: python -m xla_explorer.explorer.page.schema"
    )


def test_a_payload_has_the_fields_and_the_form_of_the_schema(script: AssetScript) -> None:
    payload = unpacked(packed(build_payload(SoftmaxSource())))
    assert set(payload) == set(ExplorerPayload.__annotations__)
    assert payload["format"] == schema.wire_format() == script.call("() => FORMAT")


@pytest.mark.parametrize("source", [SoftmaxSource(), HostileSource()])
def test_rows_are_decoded_to_the_fields_of_their_types(script: AssetScript, source: Any) -> None:
    payload = unpacked(packed(build_payload(source)))
    for given, sent in zip(
        source.decisions(), script.call("namedAll", "decision", payload["decisions"]), strict=True
    ):
        assert sent["names"] == unpacked(packed(list(given.names))) and sent["message"] == unpacked(
            packed(given.message)
        )
        assert [check["ok"] for check in sent["checklist"]] == [
            check.ok for check in given.checklist
        ]
    for given, sent in zip(
        source.steps(), script.call("namedAll", "step", payload["steps"]), strict=True
    ):
        assert (sent["instructions_before"], sent["instructions_after"]) == (
            given.instructions_before,
            given.instructions_after,
        )


@pytest.mark.parametrize("other", ["1", 1, "2.00000000", None])
def test_data_of_another_version_are_refused_with_what_to_do(
    script: AssetScript, other: Any
) -> None:
    with pytest.raises(
        quickjs.JSException, match=r"different versions of xla_explorer.*[Rr]un the cell again"
    ):
        script.call("assertFormat", other)
