"""Loop nests: data with a text, a verifier, a meaning and directives.

`from_hlo.nest_of` makes one of an instruction, `meaning.evaluate_nest` runs it in numpy,
`schedule.Schedule` changes it, `lower.lower` makes SSA records of it.
"""
