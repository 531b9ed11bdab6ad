"""Where an operation was called: each node knows the line of the user's code."""

import sys

import autograd_cy as ag


def line() -> int:
    return sys._getframe(1).f_lineno


def test_node_knows_the_line_that_recorded_it() -> None:
    x = ag.ones(2, requires_grad=True)
    y, expected = x * x, line()
    assert y.grad_fn.location == f"{__file__}:{expected}, in {test_node_knows_the_line_that_recorded_it.__name__}"


def test_line_of_a_call_that_spans_lines() -> None:
    x = ag.ones(2, requires_grad=True)
    first = line() + 1
    y = x.sum(
        dim=0,
    )
    assert y.grad_fn.location.startswith(f"{__file__}:{first}, in ")


def test_frames_of_the_package_are_passed_over() -> None:
    """gradcheck calls the function from within the package; the line is the user's."""
    seen = []

    def f(x: ag.Tensor) -> ag.Tensor:
        y = x * x
        seen.append(y.grad_fn.location)
        return y

    assert ag.autograd.gradcheck(f, ag.ones(1, dtype=ag.float64, requires_grad=True))
    assert all(place.startswith(__file__) for place in seen if place)


def test_backward_called_in_a_hook_is_the_hooks_line() -> None:
    x = ag.ones(2, requires_grad=True)
    places = []
    x.register_hook(lambda g: places.append((g * x).grad_fn.location))
    ag.autograd.grad((x * 1.0).sum(), x, create_graph=True)
    assert places and places[0].startswith(__file__) and places[0].endswith("<lambda>")


def test_code_from_a_string_is_named() -> None:
    scope: dict = {"x": ag.ones(2, requires_grad=True)}
    exec(compile("y = x\nz = x + y", "<made up>", "exec"), scope)
    assert scope["z"].grad_fn.location == "<made up>:2, in <module>"


def test_leaf_node_has_no_place() -> None:
    x = ag.ones(2, requires_grad=True)
    assert (x * 1.0).grad_fn.next_functions[0][0].location == ""
