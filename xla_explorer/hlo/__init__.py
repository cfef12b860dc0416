"""The HLO language and its meaning: value types, opcodes, the graph, text, builder, verifier, evaluator, analyses."""
