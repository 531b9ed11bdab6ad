"""torch.compile of modules, torch.compiler and torch._dynamo. Everything here holds for PyTorch, too."""

import copy

import pytest

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")


@pytest.fixture(params=["autograd_cy", "torch"])
def torch(request):
    return pytest.importorskip(request.param)


@pytest.fixture
def module(torch):
    return torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout())


@pytest.fixture
def compiled(torch, module):
    return torch.compile(module, backend="eager")


def test_a_module_is_wrapped(torch, module, compiled):
    optimized = __import__(f"{torch.__name__}._dynamo.eval_frame", fromlist=["x"]).OptimizedModule
    assert isinstance(compiled, optimized) and torch._dynamo.OptimizedModule is optimized
    assert compiled._orig_mod is module and not isinstance(compiled, torch.nn.Sequential)
    assert list(compiled.state_dict()) == ["_orig_mod.0.weight", "_orig_mod.0.bias"]
    assert [name for name, _ in compiled.named_parameters()] == ["_orig_mod.0.weight", "_orig_mod.0.bias"]
    assert repr(compiled).startswith("OptimizedModule(\n  (_orig_mod): Sequential(")
    compiled.load_state_dict(compiled.state_dict())
    assert list(compiled.children()) == [module]


def test_it_calls_the_module(torch, module, compiled):
    x = torch.randn(3, 2)
    seen = []
    module.eval().register_forward_hook(lambda *_: seen.append("module"))
    assert torch.equal(compiled(x), module(x))
    assert seen == ["module", "module"]


def test_attributes_are_the_module_s(torch, module, compiled):
    assert compiled.training and compiled.eval() is compiled and not module.training and not compiled.training
    compiled.train()
    assert module.training
    module.mark = 1
    compiled.other = 2
    assert (compiled.mark, module.other, "other" in vars(compiled)) == (1, 2, False)
    del compiled.other
    assert not hasattr(module, "other") and "mark" in dir(compiled) and len(compiled) == 2
    with pytest.raises(AttributeError, match="'Sequential' object has no attribute 'nonsense'"):
        compiled.nonsense  # noqa: B018


def test_copies_are_wrapped(module, compiled):
    twin = copy.deepcopy(compiled)
    assert type(twin) is type(compiled) and twin._orig_mod is not module
    assert [p.shape for p in twin.parameters()] == [p.shape for p in compiled.parameters()]


def test_it_trains(torch, compiled):
    optimizer = torch.optim.SGD(compiled.parameters(), lr=0.1)
    before = compiled._orig_mod[0].weight.detach().clone()
    compiled.eval()(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    assert not torch.equal(before, compiled._orig_mod[0].weight)


def test_disabled_it_is_the_module(torch, module):
    assert torch.compile(module, disable=True) is module


def test_decorators_keep_functions(torch):
    def double(x):
        return x + x

    for decorate in (
        torch.compiler.disable, torch._dynamo.disable, torch.compiler.allow_in_graph, torch._dynamo.allow_in_graph,
        torch.compiler.disable(recursive=False), torch.compiler.assume_constant_result,
    ):  # fmt: skip
        decorated = decorate(double)
        assert decorated(2) == 4 and decorated.__name__ == "double"


def test_questions(torch):
    assert not torch.compiler.is_compiling() and not torch.compiler.is_dynamo_compiling() and not torch._dynamo.is_compiling()
    assert torch.compiler.reset() is None and torch._dynamo.reset() is None
    assert torch.compiler.cudagraph_mark_step_begin() is None
    assert "eager" not in torch.compiler.list_backends()
    with torch.compiler.set_stance("force_eager"):
        pass


def test_switches_can_be_set(torch):
    config = torch._dynamo.config
    before = config.suppress_errors
    config.suppress_errors = True
    assert config.suppress_errors is True and isinstance(config.cache_size_limit, int)
    config.suppress_errors = before
    torch._dynamo.mark_dynamic(torch.ones(2), 0)
