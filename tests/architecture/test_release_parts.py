"""Parts of `.ci/release`: lower bounds of dependencies, licences in the SBOM, measured rows."""

from __future__ import annotations

import importlib.util
import json
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _part(name: str) -> ModuleType:
    specification = importlib.util.spec_from_file_location(
        name, ROOT / ".ci" / "packaging" / f"{name}.py"
    )
    part = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(part)
    return part


def test_lower_bounds_of_a_project() -> None:
    project = {
        "name": "it",
        "dependencies": [
            "a>=1.2,<3",
            "b>=2; python_version < '3.13'",
            "b>=2.1; python_version >= '3.13'",
        ],
        "optional-dependencies": {"all": ["it[more]"], "more": ["c[d]>=4"]},
    }
    found = _part("lower_bounds").lower_bounds(project, ["all", "more"])
    assert found == [
        "a==1.2",
        'b==2 ; python_version < "3.13"',
        'b==2.1 ; python_version >= "3.13"',
        "c==4",
    ]


def test_a_dependency_without_a_lower_bound_is_an_error() -> None:
    with pytest.raises(ValueError, match="must have one lower bound: write a>=VERSION"):
        _part("lower_bounds").lower_bounds(
            {"name": "it", "dependencies": ["a<3"], "optional-dependencies": {}}, []
        )


def test_every_dependency_of_the_package_has_a_lower_bound() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = list(project["optional-dependencies"])
    assert len(_part("lower_bounds").lower_bounds(project, extras)) > len(project["dependencies"])


@pytest.mark.parametrize(
    ("text", "answer"),
    [("MIT", True), ("MIT OR GPL-3.0-only", True), ("MIT AND GPL-3.0-only", False), ("mine", False), ("(0BSD AND Zlib) OR AGPL-3.0-only", True),
     ("GPL-3.0-or-later WITH GCC-exception-3.1", True), ("GPL-3.0-or-later", False)],
)  # fmt: skip
def test_an_expression_is_allowed_if_its_licences_are(text: str, answer: bool) -> None:
    pytest.importorskip(
        "license_expression", reason="license_expression is not installed (extra dev)"
    )
    assert _part("licences").allowed(text) is answer


def test_components_without_an_allowed_licence_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip(
        "license_expression", reason="license_expression is not installed (extra dev)"
    )
    components = [
        {
            "name": "good",
            "version": "1",
            "licenses": [{"license": {"name": "License :: OSI Approved :: BSD License"}}],
        },
        {"name": "bad", "version": "2", "licenses": [{"license": {"id": "AGPL-3.0-only"}}]},
        {"name": "silent", "version": "3"},
    ]
    (tmp_path / "sbom.json").write_text(json.dumps({"components": components}))
    with zipfile.ZipFile(tmp_path / "it.whl", "w") as wheel:
        wheel.writestr("it/theirs.js", "// Copyright (c) somebody")
    assert _part("licences").main(tmp_path / "sbom.json", tmp_path / "it.whl") == 1
    lines = capsys.readouterr().err.splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["bad", "2"],
        ["silent", "3"],
        ["it.whl", "must"],
        ["it.whl:", "it/theirs.js"],
    ]


def test_tests_of_a_run_are_counted(tmp_path: Path) -> None:
    junit = tmp_path / "junit.xml"
    junit.write_text(
        '<testsuites><testsuite tests="9" failures="1" errors="2" skipped="3" time="4.4"/></testsuites>'
    )
    assert _part("row").tests_of(junit) == {"passed": 3, "failed": 3, "skipped": 3, "tests_s": 4}
