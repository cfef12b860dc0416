"""The kinds of decision that a compile records, and the registry of all reason codes: one table a kind, each code with its sentence, an
example and a remedy. `notebooks/fusion_reasons.md` is made of it, and `why_not` quotes it."""
