"""Configuration of Sphinx for the documentation site (`make site`)."""

from __future__ import annotations

import json
from typing import Any

from docs._site import ROOT
from docs._site.excerpts import write_excerpts
from docs._site.highlight import MlirLexer
from nkijit.tracing.api_names import MODULES
from nkijit.version import __version__

project = "nkijit"
author = "the nkijit authors"
version = release = __version__

extensions = ["myst_nb", "sphinx_design", "sphinx_copybutton"]
exclude_patterns = ["_static/README.md"]
nitpicky = True

# Headings have anchors as on code hosts: `page.md#a-heading`.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline", "attrs_block"]

# Notebooks are run at every build. A failing cell fails the build, unless it is marked to fail.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True
nb_render_image_options = {"max-width": "100%"}

smartquotes = False  # quotes in arguments are syntax
html_theme = "pydata_sphinx_theme"
html_title = "nkijit"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/favicon.svg"
html_search_scorer = str(ROOT / "docs" / "_static" / "scorer.js")
html_show_sourcelink = False
html_copy_source = False
# Summaries would read other pages from disk, which browsers forbid; `excerpts.js` adds them.
html_show_search_summary = False
html_theme_options = {
    "logo": {"text": "nkijit"},
    "header_links_before_dropdown": 6,
    "show_prev_next": True,
    "navigation_with_keys": False,
    "secondary_sidebar_items": {
        **{key: ["page-toc"] for key in ("*", "how/*", "reference/[!r]*", "reference/[!r]*/**")},
        # Cells, their outputs and findings are wide.
        **{key: [] for key in ("tutorials/*", "reference/rules/*")},
    },
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"start": [], "compared": [], "index": []}
html_context = {"default_mode": "auto"}
copyright = "the nkijit authors, Apache 2.0"

copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True


def setup(app: Any) -> None:
    """Extend Sphinx before the build."""
    app.add_lexer("mlir", MlirLexer)
    app.connect("build-finished", write_excerpts)
    app.connect("html-page-context", _scripts_of_search)


def _scripts_of_search(app: Any, page: str, *_context: object) -> None:
    if page == "search":
        app.add_js_file(None, body=f"const MODULES = {json.dumps(MODULES)};")
        app.add_js_file("search-texts.js", loading_method="defer", priority=900)
        app.add_js_file("excerpts.js", loading_method="defer", priority=901)
