"""Docstrings of the public rows of activation_table.py, in the form of pointwise_docs.py."""

DOCS = {
    "hardswish": (
        "input * min(max(input + 3, 0), 6) / 6. Source: Howard et al., \"Searching for MobileNetV3\" (2019).",
        "ag.nn.functional.hardswish(ag.tensor([-4.0, 0.0, 3.0]))", "tensor([-0., 0., 3.])"),
    "hardsigmoid": (
        "min(max(input + 3, 0), 6) / 6.",
        "ag.nn.functional.hardsigmoid(ag.tensor([-4.0, 0.0, 3.0]))", "tensor([0.0000, 0.5000, 1.0000])"),
    "threshold": (
        "input where it is above the threshold, otherwise `value`, without a gradient.",
        "ag.nn.functional.threshold(ag.tensor([-1.0, 0.5, 2.0]), 0.5, 9.0)", "tensor([9., 9., 2.])"),
    "hardshrink": (
        "0 where input is between -lambd and lambd, otherwise input.",
        "ag.hardshrink(ag.tensor([-1.0, 0.5, 2.0]))", "tensor([-1.,  0.,  2.])"),
    "softplus": (
        "log(1 + exp(beta * input)) / beta; input itself where beta * input is above the threshold.",
        "ag.nn.functional.softplus(ag.tensor([0.0, 30.0]))", "tensor([ 0.6931, 30.0000])"),
    "logsigmoid": (
        "log(sigmoid(input)), exact where the sigmoid is near 0 or 1.",
        "ag.nn.functional.logsigmoid(ag.tensor([0.0, -1000.0]))", "tensor([-6.9315e-01, -1.0000e+03])"),
    "mish": (
        "input * tanh(softplus(input)). Source: Misra, \"Mish\" (2019).",
        "ag.nn.functional.mish(ag.tensor([0.0, 1.0]))", "tensor([0.0000, 0.8651])"),
}
