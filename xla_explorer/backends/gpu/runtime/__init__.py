"""Execution of GPU programs: on an NVIDIA device through CUDA's driver, or on the PTX emulator."""
