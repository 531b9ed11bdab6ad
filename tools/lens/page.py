"""The report as one HTML page: functions, and the annotated lines of the core, for each profile."""

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from tools.lens.sources import source
from tools.lens.summary import Summary
from tools.lens.yellow import scores

TEMPLATE = Path(__file__).with_name("page.html")
OTHERS = 30         # number of listed functions of NumPy, Python and others


def as_page(summaries: Mapping[str, Summary], flames: Mapping[str, str]) -> str:
    """as_page({title: summary}, {title: SVG}) -> the page, one file that needs no network."""
    data = {
        "profiles": [profile_data(title, summary) for title, summary in summaries.items()],
        "sources": {file: lines_of(file, functions) for file, functions in shown(summaries).items()},
        "flames": dict(flames),
    }
    # In a script element, text ends at "</" and comments begin at "<!", so JSON escapes the letter.
    return TEMPLATE.read_text(encoding="utf-8").replace("{{data}}", json.dumps(data).replace("<", "\\u003c"))


def profile_data(title: str, summary: Summary) -> dict[str, object]:
    """The data of one profile for the page's script."""
    own = [row for row in summary.rows if row.spot.owner == "core"]
    others = [row for row in summary.rows if row.spot.owner != "core"][:OTHERS]
    rows = sorted(own + others, key=lambda row: -row.own)
    return {
        "title": title,
        "unit": summary.profile.unit,
        "total": summary.profile.total,
        "owners": summary.owners.most_common(),
        "functions": [[*row.spot, row.own, row.inclusive, row.calls] for row in rows],
        "lines": line_costs(summary),
    }


def line_costs(summary: Summary) -> dict[str, dict[int, list[int]]]:
    """{file: {line: [own cost, cost of its calls]}}, the most expensive file first."""
    files: dict[str, dict[int, list[int]]] = defaultdict(dict)
    for spot, own in summary.lines.items():
        if spot.line:
            files[spot.file][spot.line] = [own, summary.inclusive_lines.get((spot.file, spot.line), 0)]
    dearest = sorted(files, key=lambda file: -sum(own for own, _ in files[file].values()))
    return {file: files[file] for file in dearest}


def shown(summaries: Mapping[str, Summary]) -> dict[str, set[str]]:
    """The functions of each file that cost something in any profile."""
    files: dict[str, set[str]] = defaultdict(set)
    for summary in summaries.values():
        for spot in summary.lines:
            if spot.line:
                files[spot.file].add(spot.function)
    return files


def lines_of(file: str, functions: set[str]) -> list[tuple[int, str, int, str]]:
    """[(line, text, score, function)] of those functions; "(module)" is no function, and its lines are left out."""
    text, score = source(file), scores(file)
    numbered = enumerate(zip(text.lines, text.functions, strict=True), start=1)
    return [(n, line, score[n], function) for n, (line, function) in numbered if function in functions]
