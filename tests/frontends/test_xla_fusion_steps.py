"""XLA:GPU's record of its priority fusion, read with the names before the pass."""

from __future__ import annotations

from xla_explorer.frontends.xla_dump import fusion_verdicts

DUMP = """fusion_steps {
  update_priority {
    producer_name: "a"
    consumer_names: "b"
    consumer_names: "c"
    us_fused: 2.5
    us_unfused: 2.25
  }
}
fusion_steps {
  fusion {
    fusion_name: "fusion.1"
    producer_name: "b"
    consumer_name: "d"
  }
}
fusion_steps {
  producer_ineligible {
    producer_name: "fusion.1"
    reason: "the \\"consumer\\" is not fusible"
  }
}
fusion_steps {
  update_priority {
    producer_name: "e"
    consumer_names: "fusion.1"
    us_fused: 1
    us_unfused: 3
  }
}
gpu_device_info {
  name: "fusion_steps"
}
"""


def test_the_last_word_on_each_producer_is_found_under_its_old_name() -> None:
    found = fusion_verdicts(DUMP)
    assert set(found) == {"a", "d", "e"}
    assert (
        found["a"].sentence
        == "by XLA's estimate %a and its 2 readers take 2.5 us fused, 2.25 us apart"
    )
    assert "is not fusible" in found["d"].sentence
    assert (
        found["e"].readers == ("d",) and found["e"].sentence == ""
    )  # the estimate speaks for fusing: something else decided


def test_another_text_has_no_verdicts() -> None:
    assert fusion_verdicts("") == {} and fusion_verdicts("}\n}\nfusion_steps {\n") == {}
    broken = DUMP.replace("us_fused: 2.5", "us_fused: many")
    assert fusion_verdicts(broken)["a"].sentence == ""
