"""A program on several devices: shardings, collectives with their causes, memory, what-ifs.

Start reading at `devices.py`.
"""
