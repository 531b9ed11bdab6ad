"""A look at a graph: which operation computed a tensor, from which inputs, and how backward() walks through.

Every computed tensor has a node, its ``grad_fn``. A node's ``next_functions`` lead to the nodes of its
inputs; the paths end at AccumulateGrad nodes, whose ``variable`` is a leaf. Calling a node with the gradient of its
output returns the gradients of its inputs. This is enough to write an engine.
"""

import heapq
import itertools

import autograd_cy as torch


def draw(node, names, indent=""):
    """The nodes below ``node`` as a tree of lines; leaves have names."""
    name = type(node).__name__
    yield f"{indent}{name}" if name != "AccumulateGrad" else f"{indent}{name} of {names[node.variable]}"
    for next_node, _ in node.next_functions:
        if next_node is not None:
            yield from draw(next_node, names, indent + "    ")


def backward(root):
    """The gradients of all leaves below ``root``: calls the nodes one by one, the last recorded first."""
    order = itertools.count()  # heapq compares these if sequence numbers are equal
    waiting = [(-root._sequence_nr(), next(order), root)]
    gradients = {root: torch.tensor(1.0)}
    leaves = {}
    while waiting:
        node = heapq.heappop(waiting)[-1]
        g = gradients.pop(node)
        if type(node).__name__ == "AccumulateGrad":
            leaves[node.variable] = leaves.get(node.variable, 0) + g
            continue
        inputs = node(g)
        inputs = inputs if isinstance(inputs, tuple) else (inputs,)
        for (next_node, _), g in zip(node.next_functions, inputs, strict=True):
            if next_node is None:
                continue
            if next_node not in gradients:
                heapq.heappush(waiting, (-next_node._sequence_nr(), next(order), next_node))
            gradients[next_node] = gradients[next_node] + g if next_node in gradients else g
    return leaves


def main():
    a, b, d = (torch.tensor(x, requires_grad=True) for x in (2.0, 3.0, 4.0))
    names = {a: "a", b: "b", d: "d"}
    c = a + b
    e = c * d
    print("e = (a + b) * d", *draw(e.grad_fn, names), sep="\n")

    (add, add_number), (accumulate, _) = e.grad_fn.next_functions
    assert add is c.grad_fn and add_number == 0
    assert accumulate.variable is d
    assert not hasattr(add, "variable")

    y = (c / d).tanh() * e + a
    leaves = backward(y.grad_fn)
    y.backward()
    for leaf, name in names.items():
        print(f"dy/d{name} = {leaves[leaf].item():.6f}, backward() says {leaf.grad.item():.6f}")
        assert abs(leaves[leaf] - leaf.grad) < 1e-6


if __name__ == "__main__":
    main()
