"""Settings of the book for Sphinx; `python -m notebooks.book` builds it (extra `docs`)."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the package, and `notebooks.book`, which writes the reference

import xla_explorer  # noqa: E402
from notebooks.book.course import EXECUTED, STORED  # noqa: E402

project = "xla_explorer"
version = release = xla_explorer.__version__
author = "the authors of xla_explorer"
copyright = f"{author}. Apache License 2.0"

extensions = ["myst_nb", "sphinx_copybutton", "sphinx_design", "notebooks.book.sphinx_hooks"]
exclude_patterns = [
    "book/**",
    "images/**",
    "slides.py",
    "_build/**",
    "**/README.md",
    "**.ipynb_checkpoints",
]
nitpicky = False
default_role = "code"  # our docstrings write `x` for code, as Markdown does
suppress_warnings = ["myst.header"]  # a page of the course may begin below the first level
myst_enable_extensions = ["deflist", "colon_fence", "dollarmath"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

# How-to pages and the tour run while the book is built. The course shows the outputs stored
# in its notebooks, which tests run.
nb_execution_mode = "force"
nb_execution_excludepatterns = [f"{stem}.ipynb" for stem in STORED if stem not in EXECUTED]
nb_execution_timeout = (
    1800  # a guard against a cell that does not end, not a limit: machines are loaded
)
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_execution_show_tb = True
nb_merge_streams = True
nb_ipywidgets_js = {}  # nothing is loaded from a network: the static form of a widget stands in the page
nb_mime_priority_overrides = [("html", "application/vnd.jupyter.widget-view+json", None)]

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "xla_explorer"
html_static_path = ["book/static"]
html_extra_path = ["reference/saved"]
html_css_files = ["book.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "navbar_align": "left",
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_version_warning_banner": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}
