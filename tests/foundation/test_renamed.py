"""Old names for one release: attributes that are elsewhere, properties that are methods."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator

import pytest

import xla_explorer as xe
from xla_explorer.explorer.old_names import OLD_NAMES
from xla_explorer.foundation.renamed import was_property

TEXT = "HloModule m\n\nENTRY e {\n  x = f32[8] parameter(0)\n  ROOT r = f32[8] exponential(x)\n}\n"


class Shop:
    """Has a table that was a property."""

    @was_property
    def goods(self, *, rare: bool = False) -> dict[str, int]:
        """What there is."""
        return {"gem": 1} if rare else {"bread": 3, "milk": 2}


def test_the_call_is_the_method() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (
            Shop().goods() == {"bread": 3, "milk": 2}
            and Shop().goods(rare=True) == {"gem": 1}
            and Shop.goods(Shop()) == Shop().goods()
        )
        assert (
            inspect.signature(Shop.goods).parameters.keys() == {"self", "rare"}
            and Shop.goods.__doc__ == Shop().goods.__doc__
        )
    with pytest.raises(AttributeError):
        Shop().goods = {}  # type: ignore[method-assign, assignment]


@pytest.mark.parametrize(
    "use",
    [len, list, repr, str, lambda goods: goods["milk"], lambda goods: "milk" in goods, lambda goods: sorted(goods.items())],
)  # fmt: skip
def test_the_property_still_stands_for_its_value(use: Callable[[object], object]) -> None:
    with pytest.warns(
        DeprecationWarning, match=r"shop\.goods is deprecated .* use shop\.goods\(\)"
    ) as told:
        found = use(Shop().goods)
    assert found == use(Shop().goods()) and {one.filename for one in told} == {__file__}


@pytest.fixture(scope="module")
def session() -> Iterator[xe.Session]:
    yield xe.compile(TEXT)


def test_each_old_name_of_a_session_warns_and_has_a_value(session: xe.Session) -> None:
    for name, renamed in OLD_NAMES.items():
        assert not hasattr(xe.Session, name)
        with pytest.warns(DeprecationWarning) as told:
            assert getattr(session, name) is not None
        assert f"session.{name} is deprecated" in str(told[0].message) and renamed.new in str(
            told[0].message
        )
        assert told[0].filename == __file__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        session.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_the_old_provenance_is_the_value_and_the_call(session: xe.Session) -> None:
    """A property before it moved to the passes, where it is a method."""
    with pytest.warns(DeprecationWarning, match=r"use session\.passes\.provenance\(\)"):
        assert session.provenance.coverage == session.provenance().coverage == 100.0  # type: ignore[attr-defined]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_old_names_mean_what_they_meant(session: xe.Session) -> None:
    old: object = session
    assert (
        old.kernels.equals(session.kernels())
        and old.kernels.kernel[0] == session.kernels().kernel[0]
    )  # type: ignore[attr-defined]
    assert repr(old.buffers) == repr(session.buffers()) and set(old.stages) == set(session.stages())  # type: ignore[attr-defined]
    assert old.stages["hlo"].text == session.stage("hlo").text and old.gpu.backend == "gpu"  # type: ignore[attr-defined]
    assert old.gpu_with(math="fast") is session.gpu(math="fast") and old.has_gpu  # type: ignore[attr-defined]
    assert old.find("r") == session.passes.find("r") and old.history("r") == session.passes.history(
        "r"
    )  # type: ignore[attr-defined]
    assert (
        old.source_line("r") == session.explain("r").line
        and old.pipeline is session.passes.pipeline
    )  # type: ignore[attr-defined]
    assert len(old.program_steps) == len(old.kernels) and len(old.trace) == session.passes.last  # type: ignore[attr-defined]
    assert old.trace.at(0).to_text() == session.passes[1].module.to_text()  # type: ignore[attr-defined]
