"""Generated modules for each pass: XLA's own pass beside ours."""
