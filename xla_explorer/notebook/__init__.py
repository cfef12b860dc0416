"""The only room that knows IPython: magics, their completion and diagnostics, and the explorer widget."""
