"""Loop nests: the level between a fusion and its code, as frozen data with a text, a verifier and a meaning.

`from_hlo.nest_of` makes one of an instruction, `meaning.evaluate_nest` runs it in numpy, `schedule.Schedule` changes it, `lower.lower`
makes SSA records of it.
"""
