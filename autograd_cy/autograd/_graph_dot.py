"""The picture of a graph in DOT, the language of graphviz, and as SVG (facade)."""

from collections.abc import Sequence
from typing import Any

_NODE = 'node [shape=box, style="rounded,filled", fillcolor="#f2f4f8", color="#8090a8", fontname="sans-serif", fontsize=10]'
_LEAF = 'fillcolor="#dff0df", color="#70a070"'
_NAN = 'color="#dd0000", fontcolor="#dd0000", penwidth=2'


def dot_of(lines: Sequence[Any], edges: list[tuple[int, int, int]], title: str, left_out: int) -> str:
    """DOT text: a box for each line with a node, a frame around repeated blocks, arrows along the edges."""
    text = ["digraph graph_of_tensors {", f"    label={quoted([title])}; labelloc=t; fontname=\"sans-serif\"; fontsize=11",
            f"    {_NODE}", '    edge [color="#606878", fontname="sans-serif", fontsize=9]']  # fmt: skip
    indent, frames, done = "    ", 0, set()
    for line in lines:
        if line.kind == "begin":
            text.append(f"{indent}subgraph cluster_{frames} {{")
            indent += "    "
            frames += 1
            text.append(f'{indent}label="x {line.times}"; style="rounded,dashed"; color="#8090a8"')
        elif line.kind == "end":
            indent = indent[4:]
            text.append(f"{indent}}}")
        elif line.kind == "node" and line.node.number not in done:
            done.add(line.node.number)
            text.append(f"{indent}n{line.node.number} [{attributes(line)}]")
    if left_out:
        text.append(f'    more [label="... {left_out} more lines", style=dashed]')
    for source, end, count in edges:
        words = [f'label="x {count}"'] if count > 1 else []
        if end > source:  # from a block to its next repetition, which is drawn as the same block
            words.append("constraint=false, style=dashed")
        text.append(f"    n{source} -> n{end}" + (f" [{', '.join(words)}]" if words else ""))
    return "\n".join([*text, "}", ""])


def attributes(line: Any) -> str:
    node = line.node
    name = node.name + (f"  x {line.times}" if line.times > 1 else "")
    words = [name, node.output, ", ".join(node.notes), " ".join(x for x in (node.region, node.place) if x)]
    found = [f"label={quoted([word for word in words if word])}"]
    if node.is_leaf:
        found.append(_LEAF)
    if node.has_nan:
        found.append(_NAN)
    return ", ".join(found)


def quoted(lines: list[str]) -> str:
    """A string of DOT with line breaks."""
    escaped = [line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") for line in lines]
    return '"' + "\\n".join(escaped) + '"'


def svg_of(dot: str) -> str:
    """The SVG that graphviz makes of DOT text."""
    try:
        import graphviz
    except ImportError:
        raise ImportError(
            "svg() needs the Python package graphviz: pip install 'autograd_cy[graph]'. Without it, print() shows the graph "
            "as text, and dot() gives what the program dot draws."
        ) from None
    try:
        return str(graphviz.Source(dot).pipe(format="svg", encoding="utf-8"))
    except graphviz.ExecutableNotFound:
        raise RuntimeError(
            "svg() needs the program dot of graphviz, which is not on the PATH: apt-get install graphviz (Debian, Ubuntu), "
            "brew install graphviz (macOS)"
        ) from None
