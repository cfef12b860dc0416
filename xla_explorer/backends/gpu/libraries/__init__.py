"""NVIDIA's libraries from wheels (extra `gpu`) or a CUDA installation, by their C interfaces."""
