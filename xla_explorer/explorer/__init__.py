"""The objects a user holds: session, trace, explanation, comparison, bisection, profiling; no Jupyter here."""
