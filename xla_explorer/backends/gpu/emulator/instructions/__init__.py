"""What each PTX instruction does, by family: functions that `kernel_code.py` binds to operands."""
