"""``python -m benchmarks.figures``: write the ratios of docs/benchmarks.json into the table of README.md."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEAD = "| workload | ratio |\n|---|---:|\n"


def table(figures: dict) -> str:
    """table(figures) -> the README's table: a line for each workload of the JSON.

    >>> print(table({"workloads": [{"title": "exp", "ratio": 2.85}]}))
    | workload | ratio |
    |---|---:|
    | exp | 2.9 |
    <BLANKLINE>
    """
    return HEAD + "".join(f"| {row['title']} | {row['ratio']:.1f} |\n" for row in figures["workloads"])


def main(readme: Path = ROOT / "README.md", source: Path = ROOT / "docs" / "benchmarks.json") -> None:
    """main(readme, source) replaces the table in the file `readme`."""
    new = table(json.loads(source.read_text(encoding="utf-8")))
    text = readme.read_text(encoding="utf-8")
    readme.write_text(re.sub(re.escape(HEAD) + r"(?:\|.*\n)*", lambda _: new, text), encoding="utf-8")


if __name__ == "__main__":
    main()
