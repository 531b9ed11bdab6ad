"""torch.jit and torch.onnx, as libraries use them at their first lines. What runs on both holds for PyTorch, too."""

from typing import Dict, List, Optional, Tuple  # noqa: UP035

import pytest

import autograd_cy as ag

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")


@pytest.fixture(params=["autograd_cy", "torch"])
def torch(request):
    return pytest.importorskip(request.param)


def double(x):
    return x + x


def test_functions_run(torch):
    scripted, traced = torch.jit.script(max) if torch is ag else double, torch.jit.trace(double, torch.ones(2))
    assert scripted is not None and traced(torch.ones(2)).tolist() == [2.0, 2.0]
    assert not torch.jit.is_scripting() and not torch.jit.is_tracing()


def test_functions_and_modules_come_back_as_they_are():
    module = ag.nn.Linear(2, 2)
    for given in (double, module):
        x = ag.ones(2)
        assert ag.jit.script(given) is ag.jit.trace(given, x) is ag.jit.freeze(given) is given
        assert ag.jit.trace(given, (x,), check_trace=False) is ag.jit.optimize_for_inference(given) is given
        assert ag.jit.script(given, optimize=None) is ag.jit.script()(given) is given
    assert ag.jit.script.__doc__ and ag.jit.script.__name__ == "script"


def test_a_trace_calls_what_is_traced():
    with pytest.raises(RuntimeError):
        ag.jit.trace(ag.nn.Linear(2, 2), ag.ones(3))


def test_marks_leave_methods_alone(torch):
    class Net(torch.nn.Module):
        sizes: torch.jit.Final[int]

        def __init__(self):
            super().__init__()
            self.sizes = 3
            self.scale = torch.jit.Attribute(2.0, float)

        @torch.jit.ignore
        def ignored(self, x):
            return x

        @torch.jit.ignore(drop=True)
        def dropped(self, x):
            return x

        @torch.jit.unused
        def unused(self, x):
            return x

        @torch.jit.export
        def exported(self, x):
            return torch.jit.annotate(torch.Tensor, x)

        def forward(self, x):
            if torch.jit.is_scripting():
                raise AssertionError
            return self.exported(self.unused(self.dropped(self.ignored(x))))

    assert Net()(torch.ones(2)).tolist() == [1.0, 1.0]
    assert Net().scale.value == 2.0


def test_a_script_module_is_a_module(torch):
    class Net(torch.jit.ScriptModule):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(2))

        def forward(self, x):
            return x * self.weight

    net = Net()
    assert isinstance(net, torch.nn.Module) and [name for name, _ in net.named_parameters()] == ["weight"]
    assert not isinstance(torch.nn.Linear(1, 1), torch.jit.ScriptModule) and not isinstance(double, torch.jit.ScriptFunction)


@pytest.mark.parametrize(("value", "kind", "expected"), [
    ([1, 2], List[int], True), ([1, "a"], List[int], False), ((1, "a"), Tuple[int, str], True),  # noqa: UP006
    ((1, 2), Tuple[int, str], False), ({"a": 1}, Dict[str, int], True), (None, Optional[int], True),  # noqa: UP006, UP045
    ({"a": "b"}, Dict[str, int], False), (1.0, Optional[int], False), ([[1]], List[List[int]], True),  # noqa: UP006, UP045
    (1, int, True), (1, (str, int), True), (1, (str, float), False),
])  # fmt: skip
def test_isinstance_looks_into_containers(torch, value, kind, expected):
    assert torch.jit.isinstance(value, kind) is expected


def test_a_fork_has_its_result(torch):
    assert torch.jit.wait(torch.jit.fork(double, torch.ones(1))).tolist() == [2.0]


@pytest.mark.parametrize("name", ["save", "load", "CompilationUnit", "ScriptFunction"])
def test_files_are_refused(name):
    with pytest.raises(NotImplementedError, match=f"torch.jit.{name}: this package has no TorchScript"):
        getattr(ag.jit, name)("path")


def test_internals_that_libraries_take(torch):
    internal = __import__(f"{torch.__name__}._jit_internal", fromlist=["x"])
    chosen = internal.boolean_dispatch("flag", 1, False, lambda x, flag=True: "yes", lambda x, flag=False: "no", __name__, "f")
    assert (chosen(1), chosen(1, True), chosen(1, flag=True), chosen.__name__) == ("no", "yes", "yes", "f")
    if torch is ag:
        for mark in (internal._overload, internal._overload_method, internal._copy_to_script_wrapper):
            assert mark(double) is double
    assert not internal.is_scripting()


def test_onnx_is_refused_when_it_is_used(torch):
    assert torch.onnx.is_in_onnx_export() is False
    assert issubclass(torch.onnx.OnnxExporterError, RuntimeError)
    if torch is ag:
        with pytest.raises(NotImplementedError, match="does not write ONNX"):
            ag.onnx.export(ag.nn.Linear(1, 1), ag.ones(1), "file.onnx")


def test_futures(torch):
    future = torch.futures.Future()
    seen = []
    future.add_done_callback(lambda done: seen.append(done.value()))
    following = future.then(lambda done: done.value() + 1)
    failed = following.then(lambda done: 1 // 0)
    assert not future.done()
    future.set_result(1)
    assert (future.wait(), following.wait(), seen, future.done()) == (1, 2, [1], True)
    with pytest.raises((ZeroDivisionError, RuntimeError)):
        failed.wait()
    with pytest.raises(RuntimeError, match="completed once"):
        future.set_result(2)
    assert torch.futures.wait_all([future, following]) == [1, 2]
    with pytest.raises(RuntimeError):
        torch.futures.Future().value()


def test_a_future_is_waited_for(torch):
    import threading

    future = torch.futures.Future()
    threading.Timer(0.05, lambda: future.set_result(5)).start()
    assert future.wait() == 5
