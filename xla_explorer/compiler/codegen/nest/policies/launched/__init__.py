"""Policies for launched targets: axes become blocks, threads and warp lanes of a GPU's launch."""
