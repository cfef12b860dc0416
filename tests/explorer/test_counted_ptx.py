"""PTX with counters by line: what is coloured, and why."""

import pytest

import xla_explorer as xe
from xla_explorer.explorer.measures.counted_ptx import COLUMNS, MARKS, CountedPtx

GATHERED = """HloModule g
ENTRY e {
  x = f32[4096] parameter(0)
  s = f32[512] slice(x), slice={[0:4096:8]}
  ROOT r = f32[512] negate(s)
}
"""


@pytest.fixture(scope="module")
def counted():
    return xe.compile(GATHERED, backend="gpu", device="emulator").emulation().ptx


def test_a_line_of_its_own_for_every_line_of_ptx(counted):
    assert isinstance(counted, CountedPtx) and tuple(counted.lines.columns) == COLUMNS
    assert len(counted.lines) == len(counted.text.splitlines())
    ran = counted.lines[counted.lines["warp_instructions"] > 0]
    assert (
        len(ran) > 5
        and ran["share"].sum() == pytest.approx(1.0)
        and ran["hlo"].str.startswith("%").mean() > 0.5
    )


def test_strided_reads_are_coloured_and_dense_writes_are_not(counted):
    marked = counted.marked
    assert list(marked["marks"]) == ["uncoalesced"] and "ld.global" in marked["text"].iloc[0]
    assert "32.0 sectors a request, 12%" in marked["reason"].iloc[0]
    (store,) = [row for row in counted.lines.itertuples() if "st.global" in row.text]
    assert store.marks == "" and store.sector_use == 1.0


def test_the_page(counted):
    page = counted._repr_mimebundle_()
    assert MARKS["uncoalesced"][0] in page["text/html"] and "<script" not in page["text/html"]
    assert "uncoalesced: 32.0 sectors" in page["text/plain"]


def test_a_long_text_shows_the_busiest_part():
    text = "\n".join(f"add.s32 %r{k}, %r{k}, <1>;" for k in range(5000))
    row = {"kernel": "k", "line": 4000, "warp_instructions": 7, "active": 1.0, "divergent_branches": 3, "sectors_per_request": 0.0,
           "sector_use": 0.0, "bank_conflict": 4.0, "same_address": 0, "hlo": "%r"}  # fmt: skip
    page = CountedPtx(text, [row])
    html = page.to_html()
    assert (
        "lines 3250 to 4749 of 5000" in html and html.count("<tr") == 1500 and "&lt;1&gt;" in html
    )
    assert (
        page.marked["marks"].iloc[0] == "divergent, bank-conflict" and MARKS["divergent"][0] in html
    )
