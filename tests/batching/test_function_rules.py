"""Rules that a Function brings for vmap: its arguments, and the structure of what it returns."""

import pytest

import autograd_cy as ag


class Base(ag.autograd.Function):
    @staticmethod
    def setup_context(ctx, inputs, output):
        pass


def test_results_of_a_rule_are_of_any_structure():
    """Only a flat tuple was accepted."""
    class Pair(Base):
        @staticmethod
        def forward(x, ys):
            return x, ys

        @staticmethod
        def vmap(info, in_dims, x, ys):
            assert in_dims == (0, [0, None])
            return (x, [ys[0].t(), {"one": ys[1]}]), (0, [1, {"one": None}])

    x, shared = ag.rand(2), ag.rand(5)
    pair = ag.vmap(lambda x, y: Pair.apply(x, [y, shared]), out_dims=(0, [0, {"one": None}]))
    first, (second, third) = pair(x, ag.rand(2, 3))
    assert first.equal(x) and second.shape == (2, 3) and third["one"].equal(shared)


def test_keyword_arguments_reach_a_rule():
    class Scaled(Base):
        @staticmethod
        def forward(x, *, factor):
            return x * factor

        @staticmethod
        def vmap(info, in_dims, x, *, factor):
            return x * factor, in_dims[0]

    class Generated(Scaled):
        vmap = ag.autograd.Function.vmap
        generate_vmap_rule = True

    x = ag.rand(2, 3)
    for function in (Scaled, Generated):
        assert ag.vmap(lambda row: function.apply(row, factor=3))(x).equal(3 * x)  # noqa: B023
        with pytest.raises(NotImplementedError, match="kwarg-only Tensor args"):
            ag.vmap(lambda row: function.apply(row, factor=row))(x)  # noqa: B023
        with pytest.raises(NotImplementedError, match="kwarg-only Tensor args"):
            ag.vmap(lambda row: function.apply(x[0], factor=row))(x)  # noqa: B023


@pytest.mark.parametrize("out_dims", ["x", ("x",), 1.5, {"a": "x"}])
def test_out_dims_are_ints(out_dims):
    with pytest.raises(ValueError, match="must be an int, None or a python collection of ints"):
        ag.vmap(lambda x: x, out_dims=out_dims)(ag.rand(2, 3))
