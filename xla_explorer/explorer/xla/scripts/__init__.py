"""An unmodified script on real XLA: its programs by time, and a search for a faster compile."""

from xla_explorer.explorer.xla.scripts.script_gain import ScriptGain, speed_up_script
from xla_explorer.explorer.xla.scripts.script_report import ScriptReport, run_script

__all__ = ["ScriptGain", "ScriptReport", "run_script", "speed_up_script"]
