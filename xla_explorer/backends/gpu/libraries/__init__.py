"""NVIDIA's libraries for GPU programs: found in the wheels (extra `gpu`) or a CUDA installation, called by their C interfaces."""
