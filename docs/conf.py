"""The site: ``make docs``. Everything comes from packages; building and reading it needs no network."""

from __future__ import annotations

import sys
from pathlib import Path

import clustruct

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "clustruct"
author = "The clustruct authors"
copyright = "the clustruct authors, BSD-3-Clause"
version = release = clustruct.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "sphinxcontrib.bibtex",
    "mathml",
    "api_pages",
    "plain_docstrings",
    "inside_pictures",
    "kept_tables",
]
exclude_patterns = ["_build", "**/README.md", "**sg_execution_times.rst"]
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4

# Signatures without annotations: the sections of the docstrings say what may be given.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = False
numpydoc_show_class_members = False

highlight_language = "none"
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_title = "clustruct"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 9,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 2,
}
html_sidebars = {page: [] for page in ("inside", "contributing", "changes")}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"
bibtex_reference_style = "author_year"

GALLERY = HERE.parent / "examples/gallery"
sphinx_gallery_conf = {
    "examples_dirs": str(GALLERY),
    "gallery_dirs": "gallery",
    "filename_pattern": "/plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
}
