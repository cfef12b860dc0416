"""Questions about a module that change nothing: call graph, dataflow, buffers that may be shared, reachability, liveness, cost."""
