"""The page of a profile: one HTML file that needs no network, made of a model and the files in `page/`.

The model consists of columns, so that 10^5 events are a few megabytes that a browser parses at once. Scripts in the browser
draw everything from it. They share one scope, in the order of SCRIPTS.
"""

import html
import json
import re
from importlib import resources
from typing import Any

SCRIPTS = (
    "format",
    "model",
    "theme",
    "view",
    "search",
    "chart",
    "memory_lane",
    "overview",
    "chart_input",
    "details",
    "tables",
    "memory",
    "graph_layout",
    "graph",
    "hints",
    "main",
)

# Text that would end the model's script element, or begin a comment in it, can occur only inside JSON strings.
ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}

PLACE = re.compile(r"<!-- (title|style|model|script) -->")


def as_json(model: dict[str, Any]) -> str:
    """The model as JSON that is safe inside a script element: ASCII, so U+2028 is escaped, and without `<`, `>`, `&`.

    Arrays and numbers of NumPy are taken as lists and numbers. ValueError for NaN and infinities, which JSON hasn't.
    """
    text = json.dumps(model, separators=(",", ":"), allow_nan=False, default=lambda array: array.tolist())
    return re.sub("[<>&]", lambda found: ESCAPES[found[0]], text)


def render(model: dict[str, Any]) -> str:
    """The page that shows a profile's model, as the text of an HTML file in UTF-8."""
    folder = resources.files(__package__).joinpath("page")

    def asset(name: str) -> str:
        return folder.joinpath(name).read_text(encoding="utf-8")

    scripts = "\n".join(asset(f"{name}.js") for name in SCRIPTS)
    parts = {
        # The name of a file may hold bytes that are no text.
        "title": html.escape(model["title"].encode("utf-8", "replace").decode()),
        "style": asset("page.css"),
        "model": as_json(model),
        "script": f'"use strict";\n(() => {{\n{scripts}}})();\n',
    }
    return PLACE.sub(lambda found: parts[found[1]], asset("page.html"))
