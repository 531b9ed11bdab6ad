"""functional_call() and stack_module_state(): modules with other tensors than their own."""

import pytest

import autograd_cy as ag
from autograd_cy.func import functional_call, grad, stack_module_state, vmap


class Linear:
    """What such a module has: named tensors, a mode."""

    training = True

    def __init__(self, scale=1.0, buffers=True, requires_grad=True):
        self.weight = (ag.arange(4.0).reshape(2, 2) * scale).requires_grad_(requires_grad)
        if buffers:
            self.offset = ag.ones(2)

    def __call__(self, x, factor=1):
        return (self.weight @ x + self.offset) * factor

    def named_parameters(self, remove_duplicate=True):
        return [("weight", self.weight)]

    def named_buffers(self, remove_duplicate=True):
        return [("offset", self.offset)]


class Plain:
    """Tensors in attributes, one of them under two names, and a module within."""

    def __init__(self):
        self.layer = Linear()
        self.same = self.layer.weight

    def __call__(self, x):
        return self.layer(x) + self.same.sum()


X = ag.tensor([1.0, 2.0])
ZERO = ag.zeros(2, 2)


def test_other_tensors_for_a_call():
    layer = Linear()
    own = layer.weight
    assert functional_call(layer, {"weight": ZERO}, (X,)).tolist() == [1.0, 1.0]
    assert functional_call(layer, {"weight": ZERO}, X, {"factor": 2}).tolist() == [2.0, 2.0]
    assert functional_call(layer, ({"weight": ZERO}, {"offset": X}), (X,)).tolist() == X.tolist()
    assert functional_call(layer, {}, (X,)).tolist() == layer(X).tolist()
    assert layer.weight is own and "nope" not in vars(layer)
    g = grad(lambda tensors: functional_call(layer, tensors, (X,)).sum())({"weight": ZERO})
    assert g["weight"].tolist() == [[1.0, 2.0]] * 2 and own.grad is None


def test_names_are_paths_and_ties_are_kept():
    module = Plain()
    own = module.same
    assert functional_call(module, {"layer.weight": ZERO}, X).tolist() == [1.0, 1.0]
    assert functional_call(module, {"same": ZERO}, X).tolist() == [1.0, 1.0]
    assert functional_call(module, {"same": ZERO, "layer.weight": ZERO}, X).tolist() == [1.0, 1.0]
    assert functional_call(module, {"same": ZERO}, X, tie_weights=False).tolist() == module.layer(X).tolist()
    with pytest.raises(ValueError, match=r"multiple values for keys \['layer.weight', 'same'\], which are tied"):
        functional_call(module, {"same": ZERO, "layer.weight": own}, X)
    assert module.same is own and module.layer.weight is own


def test_modules_that_keep_their_tensors_in_dicts():
    class Module(Linear):
        def __init__(self):
            self._parameters, self._buffers = {"weight": ag.ones(2, 2)}, {"offset": ag.ones(2)}

        weight = property(lambda self: self._parameters["weight"])
        offset = property(lambda self: self._buffers["offset"])

    module = Module()
    assert functional_call(module, {"weight": ZERO, "offset": X}, X).tolist() == X.tolist()
    assert module(X).tolist() == [4.0, 4.0] and set(vars(module)) == {"_parameters", "_buffers"}


def test_the_tensors_are_put_back_after_an_error():
    layer = Linear()
    own = layer.weight
    with pytest.raises(RuntimeError):
        functional_call(layer, {"weight": ag.ones(3, 5), "other": X}, X)
    assert layer.weight is own and "other" not in vars(layer)


REFUSED = {
    "type": (lambda: functional_call(Linear(), 3, X), ValueError, "to be a dict, or a list/tuple of dicts, but got .*int"),
    "items": (lambda: functional_call(Linear(), [3], X), ValueError, "all elements of parameter_and_buffer_dicts"),
    "twice": (lambda: functional_call(Linear(), ({"weight": ZERO}, {"weight": ZERO}), X), ValueError,
              r"\['weight'\] appeared in multiple dictionaries"),
    "no tensor": (lambda: functional_call(Linear(), {"weight": 3}, X), TypeError, "3, which is not an instance of"),
    "no such part": (lambda: functional_call(Plain(), {"q.w": ZERO}, X), AttributeError, "Plain has no attribute `q`"),
    "strict": (lambda: functional_call(Linear(), {"nope": ZERO}, X, strict=True), RuntimeError,
               "reparametrizing for Linear:\n\tUnexpected key\\(s\\): 'nope'.\n\tMissing key\\(s\\): 'offset', 'weight'."),
    "no models": (lambda: stack_module_state([]), RuntimeError, "Expected at least one model, got 0"),
    "classes": (lambda: stack_module_state([Linear(), type("Other", (Linear,), {})()]), RuntimeError, "of the same class"),
    "requires_grad": (lambda: stack_module_state([Linear(), Linear(requires_grad=False)]), RuntimeError,
                      "Expected weight from each model to have the same .requires_grad"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    call, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        call()


def test_models_of_several_modes_are_refused():
    models = [Linear(), Linear()]
    models[1].training = False
    with pytest.raises(RuntimeError, match="same training/eval mode"):
        stack_module_state(models)


def test_several_models_at_once():
    models = [Linear(1.0), Linear(2.0), Linear(-1.0)]
    parameters, buffers = stack_module_state(models)
    assert parameters["weight"].shape == (3, 2, 2) and parameters["weight"].is_leaf and parameters["weight"].requires_grad
    assert not buffers["offset"].requires_grad

    def call(parameters, buffers, x):
        return functional_call(models[0], (parameters, buffers), x)

    found = vmap(call, in_dims=(0, 0, None))(parameters, buffers, X)
    assert found.tolist() == [model(X).tolist() for model in models]
    found.sum().backward()
    for model, g in zip(models, parameters["weight"].grad, strict=True):
        assert model.weight.grad is None
        assert g.tolist() == [[1.0, 2.0], [1.0, 2.0]]
