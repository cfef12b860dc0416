"""Analyses that change nothing: call graph, dataflow, liveness, cost."""
