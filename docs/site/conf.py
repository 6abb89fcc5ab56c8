"""How scripts/docs-site makes a site of README.md and docs/: by Sphinx, MyST and a theme that Debian 12 has.

The pages are plain Markdown, which is read as well without a site. So README.md and notes/index.md have no directives either: the
links of their sections are what the site's navigation is made of.
"""
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parent

project = "collbench"
release = re.search(r"^project\(collbench VERSION (\S+)", (FOLDER.parent.parent / "CMakeLists.txt").read_text(), re.M)[1]
extensions = ["myst_parser"]
root_doc = "README"
include_patterns = ["*.md", "docs/**.md"]
exclude_patterns = ["docs/site"]
highlight_language = "none"  # a block without a language is a table or an output
suppress_warnings = ["misc.highlighting_failure"]  # an output with letters that the colors' grammar does not know stays black
myst_heading_anchors = 4  # the anchors that GitHub gives to headings

html_theme = "sphinx_rtd_theme"
html_theme_options = {"navigation_depth": 2, "prev_next_buttons_location": None}
html_title = f"collbench {release}"
html_static_path = [str(FOLDER / "site.css")]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False


def navigation(index):
    """The text of the index and, for each section with links to pages, a table of contents that only the side bar shows."""
    for section in re.split(r"(?m)^## ", index)[1:]:
        caption, body = section.split("\n", 1)
        pages = re.findall(r"(?m)(?:^- |^\| |, )\[([^]]*)\]\(([^):]*)\.md\)", body)
        if pages:
            entries = "\n".join(f"{title} <{page}>" for title, page in pages)
            index += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{entries}\n```\n"
    return index


def add_navigation(_app, page, source):
    if page in ("README", "docs/notes/index"):
        source[0] = navigation(source[0])


def setup(app):
    app.connect("source-read", add_navigation)
