"""Why two modules may differ where the script has to be looked at to tell: the reason, None if there is none."""

import re

NODE_HOOK = r"grad_fn.*register_"
# What is said of a derivative that is a constant, which for one of the two is no part of the graph.
IS_CONSTANT = "a second time|does not require grad and does not|appears to not have been used|has changed the size of value"
RECORDED = r"create_graph|torch\.func\."  # what makes a derivative that has a graph
WRITE = r"\w_\(|\] .?.?= |\w [-+*/]= "


def excuse_for_error(pair, text):
    """Of a line that raises here or there alone, or another error."""
    if any(pair.theirs.is_integer(name) and t.requires_grad for name, t in pair.theirs.tensors.items()):
        return "an integer that requires grad"
    if "CheckpointError" in text and has(pair.lines, r"detach_\(|requires_grad(_\(| = )|\.data = "):
        return "an argument of a checkpoint with another flag"
    if has(pair.lines, RECORDED) and re.search(IS_CONSTANT, text):
        return "the graph of a derivative depends on the formula"
    if has(pair.lines, "create_graph") and has(pair.lines, r"inference_mode\(\): .*backward\(") and "inference tensor" in text:
        return "a .grad from inference mode, to which a derivative that is a constant adds nothing"
    if "AccumulateGrad got a gradient of shape" in text and has(pair.lines, "out="):
        return "what out= made another shape, PyTorch sums up to the one that it had"
    if "stride" in pair.unseen and "view size is not compatible" in text:
        return "other strides"
    return None


def excuse_for_line(pair, line, error):
    """Of all that comes after a line, which did the same on both, or raised the same error."""
    if "InPlace" in line and error is not None:
        return "refused before it has written, or after"
    tensors, found = pair.theirs.tensors, re.search(r"(\w+)\.data = (\w+)", line)
    if found and any(name in tensors and tensors[name].is_inference() for name in found.groups()):
        return "data of an inference tensor: of two kinds at once in PyTorch"
    found = re.search(r"stack\(\[(\w+)", line)
    if found and found[1] in tensors and tensors[found[1]].is_inference():
        return "stack of inference tensors: a view in PyTorch"
    if any(t.is_inference() and t.requires_grad for t in tensors.values()):
        return "a parameter made in inference mode, which PyTorch does not record outside"
    if "autograd.functional" in line and any(t.is_inference() for t in tensors.values()):
        return "a point from inference mode: wrong derivatives in PyTorch"
    if re.search(RECORDED, line) and pair.ours.flags() != pair.theirs.flags():
        return "whether a derivative that is a constant requires grad depends on the formula"
    return None


def excuse_for_field(pair, field, found, expected, name):
    """Of what a tensor shows, or hooks saw."""
    lines = pair.lines
    recorded = has(lines, RECORDED)
    if has(lines, "unpack_dual") and (
        (name and has(lines, rf"\b{name}\b[^=]*= .*unpack_dual"))
        or (field == "tangent" and has(lines, WRITE))
        or (field == "values" and has(lines, r"\.data = "))
    ):
        return "a tangent, which PyTorch writes in place"
    if found == "RuntimeError" and has(lines, r"\.data = |detach_\("):
        return "a view with other memory than its base, or whose base was detached after a write"
    if field == "grad" and has(lines, r"\.data = ") and has(lines, WRITE):
        return "a view with other memory than its base that was written: here it counts where it lies"
    if field == "grad" and has(lines, r"= \w+\.data$|\.data\.") and has(lines, WRITE) and has(lines, "saved_tensors_hooks"):
        return "what was saved was written by way of `.data`, which nothing counts: what the hooks had copied decides"
    if field == "grad" and pair.shares_gradients:
        return "PyTorch adds to two gradients in one memory, to each of them twice"
    if field == "grad" and has(lines, r"Parts\.") and has(lines, r"retain_grad\(|inputs="):
        return "PyTorch takes the gradient of another result where one is written"
    if field in ("grad", "values") and recorded and has(lines, r"sgn\(") and is_nan(found):
        return "PyTorch has zeros that make a zero of infinity"
    if field == "stride" and 1 in pair.theirs.tensors[name].shape and sorted(found) == sorted(expected):
        return "PyTorch looks at strides of dimensions of one element"
    if field == "requires_grad" and expected and pair.theirs.is_integer(name):
        return "an integer that requires grad"
    if field in ("requires_grad", "is_leaf", "node") and recorded and "level" in pair.theirs.names:
        return "a tangent of a derivative, which may be a constant"
    if field == "tangent" or (field == "grad" and recorded):
        if is_nothing(found) and is_nothing(expected):
            return "none, or zeros"
    if field == "tangent" and has(lines, r"maximum|minimum") and is_nan(pair.theirs.tensors[name].tolist()):
        return "at NaN, the other operand's in PyTorch, not what backward makes of it"
    if field == "tangent" and None not in (found, expected) and found[1:] == expected[1:]:
        if "complex" in found[0] or has(lines, "alpha="):
            return "a tangent has another type in PyTorch"
    if field == "log" and recorded and (without_zeros(found) == without_zeros(expected) or has(lines, "post_accumulate")):
        return "a constant derivative has no node that is called with zeros"
    if field == "log" and has(lines, r"next_functions.*register_") and has(lines, r"flatten|reshape| @ |matmul"):
        return "a copy and its view are one node"
    if field == "log" and has(lines, NODE_HOOK) and has(lines, r"\] .?.?= |copy_|cat\(|stack\(|\.real|\.imag|view_as_"):
        return "what is joined or assigned: an input of the node, in its own shape, or one of a view of it"
    return None


def shares_gradient(leaf):
    """Whether its gradient is a part of PyTorch's memory for another one, as the real part of a complex one is."""
    g = leaf.grad
    storage = getattr(g, "untyped_storage", None)
    return storage is not None and storage().nbytes() > g.numel() * g.element_size()


def has(lines, pattern):
    return any(re.search(pattern, line) for line in lines)


def is_nothing(gradient):
    """Whether a gradient (dtype, shape, values) is None or zero everywhere."""
    return gradient is None or (isinstance(gradient, tuple) and not any(numbers_in(gradient[2])))


def is_nan(gradient):
    values = gradient[2] if isinstance(gradient, tuple) else gradient
    return any(x != x for x in numbers_in(values))


def without_zeros(log):
    return [entry for entry in log if not all(is_nothing(g) for g in gradients_in(entry[1:]))]


def gradients_in(entry):
    """The gradients (dtype, shape, values) in what a hook saw, which may be a tuple of some."""
    for item in entry:
        if isinstance(item, tuple) and not (item and str(item[0]).startswith("torch.")):
            yield from gradients_in(item)
        else:
            yield None if item == "NoneType" else item


def numbers_in(values):
    return [x for row in values for x in numbers_in(row)] if isinstance(values, list) else [values]
