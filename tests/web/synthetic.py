"""Models for the page without a recorder: training steps of a small network, as many as a number of events needs."""

import random
from collections import defaultdict
from typing import Any

FILE = "/home/ada/digits/train.py"
LOADER = "/home/ada/digits/loader.py"

# The lines of the script that the events belong to.
SOURCES = {
    (FILE, 31): "h = x @ w.t() + b",
    (FILE, 32): "h = h.to(torch.float64).tanh().to(torch.float32)",
    (FILE, 33): "h = Swish.apply(h)",
    (FILE, 34): "h = (h - h.mean(1, keepdim=True)) / h.std(1, keepdim=True)",
    (FILE, 41): "loss = F.cross_entropy(logits, y)",
    (FILE, 42): "loss = loss + 1e-4 * sum((w * w).sum() for w in weights)",
    (FILE, 45): "loss.backward()",
    (FILE, 50): "p.add_(m / (v.sqrt() + eps), alpha=-lr)",
    (FILE, 12): "return x * torch.sigmoid(x)",
    (FILE, 17): "return g * (s + x * s * (1 - s))",
    (LOADER, 22): "batch = torch.stack([scans[i] for i in picked])",
    (LOADER, 23): "batch = (batch - mean) / deviation",
}
FUNCTIONS = {31: "forward", 32: "forward", 33: "forward", 34: "forward", 41: "step", 42: "step", 45: "step", 50: "update"}
FUNCTIONS |= {12: "Swish.forward", 17: "Swish.backward", 22: "next_batch", 23: "next_batch"}

LAYERS = ("[128, 64], [64, 512]", "[128, 512], [512, 512]", "[128, 512], [512, 10]")
SWISH = [("mul", ""), ("sigmoid", ""), ("add", "")]


class Strings:
    """Texts by number, each once."""

    def __init__(self):
        self.numbers: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))


class Recording:
    """Columns of events that are opened and closed on a clock of its own, with allocations."""

    COLUMNS = ("name", "kind", "start", "duration", "thread", "depth", "parent", "file", "line", "shape", "sequence")
    COLUMNS += ("forward",)

    def __init__(self, seed: int = 0):
        self.random = random.Random(seed)
        self.columns: dict[str, list[int]] = {name: [] for name in self.COLUMNS}
        self.names, self.kinds, self.files, self.shapes = Strings(), Strings(), Strings(), Strings()
        self.clock, self.thread, self.sequence = 0, 0, 0
        self.open: list[int] = []
        self.recorded: list[tuple[int, str]] = []  # operations that recorded a node
        self.memory: list[tuple[int, int]] = []
        self.live = 6_300_000

    def tick(self, ns: float) -> None:
        self.clock += max(int(ns * self.random.uniform(0.8, 1.35)), 1)

    def begin(self, kind: str, name: str, place: tuple[str, int] | None = None, shape: str = "", forward: int = -1) -> int:
        index = len(self.columns["name"])
        file, line = place or ("", -1)
        values = {
            "name": self.names(name), "kind": self.kinds(kind), "start": self.clock, "duration": 0, "thread": self.thread,
            "depth": len(self.open), "parent": self.open[-1] if self.open else -1, "file": self.files(file) if file else -1,
            "line": line, "shape": self.shapes(shape) if shape else -1, "sequence": -1, "forward": forward,
        }  # fmt: skip
        for column, value in values.items():
            self.columns[column].append(value)
        self.open.append(index)
        return index

    def end(self) -> None:
        index = self.open.pop()
        self.columns["duration"][index] = self.clock - self.columns["start"][index]

    def leaf(self, kind: str, name: str, ns: float, place=None, shape: str = "", forward: int = -1) -> int:
        index = self.begin(kind, name, place, shape, forward)
        self.tick(ns)
        self.end()
        self.tick(120)
        return index

    def op(self, name: str, ns: float, place: tuple[str, int], shape: str = "", node: str = "", nbytes: int = 0) -> None:
        """A call of an operation; `node` names the node that it records."""
        self.allocate(nbytes)
        index = self.leaf("op", f"aten::{name}", ns, place, shape)
        if node:
            self.columns["sequence"][index] = self.sequence
            self.recorded.append((index, node))
            self.sequence += 1

    def allocate(self, nbytes: int) -> None:
        if nbytes:
            self.live += nbytes
            self.memory.append((self.clock, self.live))


def layer(run: Recording, shape: str, last: bool) -> None:
    out = 128 * 4 * (10 if last else 512)
    run.op("t", 700, (FILE, 31), shape.split("], ")[1], "TBackward0")
    run.op("mm", 95_000, (FILE, 31), shape, "MmBackward0", out)
    run.op("add", 14_000, (FILE, 31), "[128, 512], [512]", "AddBackward0", out)
    if last:
        return
    run.op("to", 17_000, (FILE, 32), "[128, 512]", "ToCopyBackward0", 2 * out)
    run.op("tanh", 88_000, (FILE, 32), "[128, 512]", "TanhBackward0", 2 * out)
    run.op("to", 16_000, (FILE, 32), "[128, 512]", "ToCopyBackward0", out)
    index = run.begin("function", "Swish.forward", (FILE, 33))
    run.tick(1500)
    for name, _ in SWISH[:2]:
        run.op(name, 13_000, (FILE, 12), "[128, 512], [128, 512]")
    run.allocate(out)
    run.end()
    run.recorded.append((index, "SwishBackward"))
    run.columns["sequence"][index] = run.sequence
    run.sequence += 1
    for name, ns in (("mean", 8000), ("sub", 12_000), ("std", 16_000), ("div", 13_000)):
        run.op(name, ns, (FILE, 34), "[128, 512]", f"{name.capitalize()}Backward0", out)


def forward(run: Recording) -> None:
    run.begin("region", "forward")
    for number, shape in enumerate(LAYERS):
        run.begin("region", f"layer {number}")
        layer(run, shape, number == len(LAYERS) - 1)
        run.end()
    run.end()
    run.begin("region", "loss")
    run.op("cross_entropy", 24_000, (FILE, 41), "[128, 10], [128]", "CrossEntropyBackward0", 5120)
    for shape in ("[512, 64]", "[512, 512]", "[10, 512]"):
        run.op("mul", 21_000, (FILE, 42), f"{shape}, {shape}", "MulBackward0", 1 << 19)
        run.op("sum", 9000, (FILE, 42), shape, "SumBackward0", 4)
        run.op("add", 900, (FILE, 42), "[], []", "AddBackward0", 4)
    run.end()


def backward(run: Recording) -> None:
    run.begin("engine", "autograd::engine::backward", (FILE, 45))
    run.leaf("engine", "autograd::engine::count dependencies", 4000, (FILE, 45))
    for index, node in reversed(run.recorded):
        cost = 1.7 * run.columns["duration"][index]
        number = run.columns["sequence"][index]
        event = run.begin("backward", node, (FILE, 45), forward=index)
        run.columns["sequence"][event] = number
        if node == "SwishBackward":
            run.begin("function", "Swish.backward", (FILE, 45))
            for name, _ in SWISH:
                run.op(name, 13_000, (FILE, 17), "[128, 512], [128, 512]")
            run.end()
        elif node == "MmBackward0":
            for _ in range(2):
                run.op("mm", cost / 2, (FILE, 45), "[512, 128], [128, 512]")
        else:
            run.tick(cost)
        run.end()
        run.allocate(-(run.live - 6_300_000) // 9)
        run.tick(90)
        if node == "TBackward0":
            run.leaf("hook", "clip_gradient", 6000, (FILE, 45))
            run.leaf("backward", "torch::autograd::AccumulateGrad", 2200, (FILE, 45))
    run.leaf("engine", "autograd::engine::free saved tensors", 9000, (FILE, 45))
    run.end()
    run.recorded.clear()
    run.allocate(6_300_000 - run.live)


def optimize(run: Recording) -> None:
    run.begin("region", "optimizer")
    for shape in ("[512, 64]", "[512]", "[512, 512]", "[512]", "[10, 512]", "[10]"):
        cost = 12_000 if "," in shape else 900
        run.allocate(1 << 20)
        for name in ("sqrt", "add", "div", "add_"):
            run.op(name, cost, (FILE, 50), shape)
        run.allocate(-(1 << 20))
    run.end()


def step(run: Recording, number: int) -> None:
    run.begin("region", f"ProfilerStep#{number}")
    forward(run)
    backward(run)
    optimize(run)
    run.end()
    run.tick(2500)


def load(run: Recording, until: int) -> None:
    """The other thread, from the beginning: batches, with pauses between them."""
    run.clock, run.thread, run.recorded = 60_000, 1, []
    while run.clock < until - 400_000:
        run.begin("region", "next batch")
        run.op("stack", 110_000, (LOADER, 22), "[64] x 128")
        run.op("sub", 9000, (LOADER, 23), "[128, 64], [64]")
        run.op("div", 9000, (LOADER, 23), "[128, 64], [64]")
        run.end()
        run.tick(420_000)


def self_times(columns: dict[str, list[int]]) -> list[int]:
    left = list(columns["duration"])
    for parent, duration in zip(columns["parent"], columns["duration"], strict=True):
        if parent >= 0:
            left[parent] -= duration
    return left


def tables(run: Recording) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Time by operation and by line."""
    columns, left = run.columns, self_times(run.columns)
    by_name: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0, 0])
    by_line: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0])
    for i, self_ns in enumerate(left):
        entry = by_name[columns["name"][i], columns["kind"][i]]
        entry[:] = entry[0] + 1, entry[1] + self_ns, entry[2] + columns["duration"][i]
        if columns["file"][i] >= 0:
            entry = by_line[columns["file"][i], columns["line"][i]]
            entry[:] = entry[0] + 1, entry[1] + self_ns
    names, kinds, files = list(run.names.numbers), list(run.kinds.numbers), list(run.files.numbers)
    table = [
        {"name": names[n], "kind": kinds[k], "calls": c, "self_ns": s, "total_ns": t, "bytes": 262_144 * c if s > 2e5 else 0}
        for (n, k), (c, s, t) in by_name.items()
    ]
    lines = [
        {"file": files[f], "line": n, "function": FUNCTIONS[n], "self_ns": s, "calls": c, "source": SOURCES[files[f], n]}
        for (f, n), (c, s) in by_line.items()
    ]
    return table, sorted(lines, key=lambda row: -row["self_ns"])


HINTS = [
    (32, "cast", 1_240_000, "tanh computes in float64 and is cast back: 2 casts of 256 kB on each call, and twice the bytes."),
    (31, "copy", 310_000, "x @ w.t() copies its second operand, 1 MB on each call: keep the weight transposed."),
    (34, "recompute", 145_000, "The mean is computed twice, once more inside std: var_mean gives both in one pass."),
]


def graph() -> dict[str, Any]:
    """The nodes of a step, layers folded where they repeat."""
    nodes: list[dict[str, Any]] = []
    edges: list[list[int]] = []

    def node(name: str, shape: str, nbytes: int, line: int, *above: int, count: int = 1) -> int:
        values = {"name": name, "shape": shape, "dtype": "float32", "bytes": nbytes, "file": FILE, "line": line}
        nodes.append({"id": len(nodes), **values, "count": count})
        edges.extend([start, len(nodes) - 1] for start in above)
        return len(nodes) - 1

    top = node("AddBackward0", "[]", 0, 42)
    entropy = node("CrossEntropyBackward0", "[]", 6144, 41, top)
    squares = node("SumBackward0", "[]", 0, 42, top, count=3)
    squares = node("MulBackward0", "[512, 512]", 1_048_576, 42, squares, count=3)
    below = node("MmBackward0", "[128, 10]", 282_624, 31, node("AddBackward0", "[128, 10]", 0, 31, entropy))
    node("AccumulateGrad", "[10, 512]", 0, 31, node("TBackward0", "[512, 10]", 0, 31, below), squares)
    div = node("DivBackward0", "[128, 512]", 262_656, 34, below, count=2)
    std = node("StdBackward0", "[128, 1]", 262_656, 34, div, count=2)
    sub = node("SubBackward0", "[128, 512]", 0, 34, div, count=2)
    swish = node("SwishBackward", "[128, 512]", 524_288, 33, sub, std, count=2)
    cast = node("ToCopyBackward0", "[128, 512]", 0, 32, swish, count=4)
    tanh = node("TanhBackward0", "[128, 512]", 524_288, 32, cast, count=2)
    add = node("AddBackward0", "[128, 512]", 0, 31, tanh, count=2)
    mm = node("MmBackward0", "[128, 512]", 1_310_720, 31, add, count=2)
    node("AccumulateGrad", "[512]", 0, 31, add, count=2)
    node("AccumulateGrad", "[512, 512]", 0, 31, node("TBackward0", "[512, 512]", 0, 31, mm, count=2), squares, count=2)
    return {"nodes": nodes, "edges": edges}


def model(least: int = 0, seed: int = 0) -> dict[str, Any]:
    """A profile of training steps: two of them, or as many as have `least` events."""
    run = Recording(seed)
    number = 0
    while number < 2 or len(run.columns["name"]) < least:
        step(run, number)
        number += 1
    end = run.clock
    load(run, end)
    table, lines = tables(run)
    time, live = max(run.memory, key=lambda moment: moment[1])
    hints = [
        {"file": FILE, "line": line, "source": SOURCES[FILE, line], "message": message, "gain_ns": gain, "kind": kind}
        for line, kind, gain, message in HINTS
    ]
    peak = {"time": time, "bytes": live, "file": FILE, "line": 42, "source": SOURCES[FILE, 42]}
    return {
        "title": "train.py, two steps" if not least else f"train.py, {number} steps", "unit": "ns", "start": 0, "end": end,
        "threads": ["MainThread", "loader"], "names": list(run.names.numbers), "kinds": list(run.kinds.numbers),
        "files": list(run.files.numbers), "functions": sorted(set(FUNCTIONS.values())), "shapes": list(run.shapes.numbers),
        "events": run.columns, "table": table, "lines": lines, "hints": hints, "graph": graph(), "dropped": 0,
        "memory": {"time": [t for t, _ in run.memory], "bytes": [b for _, b in run.memory], "peak": peak},
    }  # fmt: skip


def empty() -> dict[str, Any]:
    """A profile in which nothing was recorded."""
    lists = ("names", "kinds", "files", "functions", "shapes", "table", "lines", "hints")
    return {
        "title": "nothing", "unit": "ns", "start": 0, "end": 0, "threads": ["MainThread"], **{name: [] for name in lists},
        "events": {column: [] for column in Recording.COLUMNS}, "memory": None, "graph": None, "dropped": 0,
    }  # fmt: skip
