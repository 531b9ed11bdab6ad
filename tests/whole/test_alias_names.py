"""Under the alias of torch, modules, classes and functions say torch, and afterwards autograd_cy again."""

import subprocess
import sys

import pytest

NAMES = {
    "torch": "torch", "torch.nn": "torch.nn", "torch.nn.functional": "torch.nn.functional", "torch.optim": "torch.optim",
    "torch.utils.data": "torch.utils.data", "torch.distributions": "torch.distributions",
}  # fmt: skip
HOMES = {
    "torch.Tensor": "torch", "torch.Size": "torch", "torch.device": "torch", "torch.nn.Linear": "torch.nn.modules.linear",
    "torch.nn.Parameter": "torch.nn.parameter", "torch.nn.Module": "torch.nn.modules.module",
    "torch.nn.BatchNorm2d": "torch.nn.modules.batchnorm", "torch.optim.SGD": "torch.optim.sgd",
    "torch.optim.Adafactor": "torch.optim", "torch.utils.data.DataLoader": "torch.utils.data.dataloader",
    "torch.distributions.Normal": "torch.distributions.normal", "torch.autograd.Function": "torch.autograd.function",
    "torch.no_grad": "torch.autograd.grad_mode", "torch.nn.utils.clip_grad_norm_": "torch.nn.utils.clip_grad",
    "torch.zeros": "torch", "torch.nn.DataParallel": "torch.nn.parallel.data_parallel", "torch.compile": "torch",
    "torch.nn.Conv2d": "torch.nn.modules.conv", "torch.nn.Softmax": "torch.nn.modules.activation",
    "torch.nn.LSTMCell": "torch.nn.modules.rnn", "torch.nn.parameter.UninitializedParameter": "torch.nn.parameter",
    "torch.distributions.Transform": "torch.distributions.transforms",
    "torch.nn.utils.prune.L1Unstructured": "torch.nn.utils.prune",
}  # fmt: skip

SCRIPT = f"""
import inspect, pickle, sys
import torch
import torch.nn.functional as F
import torch.nn.utils.prune
from torch import nn

for name, expected in {NAMES!r}.items():
    assert eval(name).__name__ == expected, (name, eval(name).__name__)
for name, expected in {HOMES!r}.items():
    assert eval(name).__module__ == expected, (name, eval(name).__module__)
    assert sys.modules[expected] is not None
assert torch.__version__ > "2" and torch.__version__ >= "2.0.1" and not torch.__version__ < "1.13"
assert repr(type(torch.ones(1))) == "<class 'torch.Tensor'>"
assert torch.typename(nn.Linear(1, 1)) == "torch.nn.modules.linear.Linear"
for value in (torch.Size([2]), torch.device("cpu"), torch.ones(2), nn.Linear(1, 2), torch.float32, nn.Linear, F.relu):
    pickle.loads(pickle.dumps(value))
assert b"autograd_cy" not in pickle.dumps([torch.Size([2]), torch.device("cuda:1"), nn.Linear, torch.optim.SGD])
assert inspect.getsource(nn.Identity).startswith("class Identity")
"""


def run(code, *arguments):
    return subprocess.run([sys.executable, *arguments, "-c", code], capture_output=True, text=True)


def test_names_say_torch():
    run_here = run(SCRIPT, "-m", "autograd_cy")
    assert run_here.returncode == 0, run_here.stderr


def test_they_are_pytorch_s():
    pytest.importorskip("torch")
    there = run(SCRIPT)
    assert there.returncode == 0, there.stderr


LISTED = """
import torch, torch.distributions.transforms as transforms
from torch import distributions, nn, optim
for module in (nn, optim, optim.lr_scheduler, optim.swa_utils, torch.utils.data, distributions, transforms):
    for name in dir(module):
        value = getattr(module, name)
        if isinstance(value, type) and value.__module__.startswith("torch.") and name[0] != "_":
            print(module.__name__, name, value.__module__, value.__qualname__)
"""


def test_all_classes_have_pytorch_s_homes():
    """A model that was saved whole is read by PyTorch, which knows classes by where they are defined."""
    pytest.importorskip("torch")
    here, there = (set(run(LISTED, *arguments).stdout.splitlines()) for arguments in (("-m", "autograd_cy"), ()))
    names = [{line.rsplit(maxsplit=2)[0] for line in lines} for lines in (here, there)]
    assert len(here & there) > 250
    assert [line for line in sorted(here - there) if line.rsplit(maxsplit=2)[0] in names[1]] == []


def test_warnings_are_given_at_the_line_of_the_caller():
    code = "import warnings, torch; warnings.simplefilter('error'); torch.nn.functional.softmax(torch.ones(2))"
    assert 'File "<string>", line 1' in run(code, "-m", "autograd_cy").stderr


def test_what_is_loaded_later_says_torch_too():
    code = "import torch; a = torch.nn.Linear.__module__; import torch.masked as m; print(a, m.__name__, torch.fft.__name__)"
    assert run(code, "-m", "autograd_cy").stdout.split() == ["torch.nn.modules.linear", "torch.masked", "torch.fft"]


def test_afterwards_names_are_as_before():
    code = """
import sys, autograd_cy as ag
before = {name: (m.__name__, m.__package__) for name, m in sys.modules.items() if name.startswith("autograd_cy.")}
homes = [v.__module__ for v in (ag.Tensor, ag.Size, ag.nn.Linear, ag.zeros, ag.no_grad)]
with ag.install_as_torch():
    import torch
    assert torch.nn.Linear.__module__ == "torch.nn.modules.linear" and ag.nn.__name__ == "torch.nn"
    with ag.install_as_torch():
        pass
    assert torch.nn.Linear.__module__ == "torch.nn.modules.linear"
assert homes == [v.__module__ for v in (ag.Tensor, ag.Size, ag.nn.Linear, ag.zeros, ag.no_grad)]
assert before == {name: (m.__name__, m.__package__) for name, m in sys.modules.items() if name in before}
assert not [name for name in sys.modules if name.partition(".")[0] == "torch"]
import autograd_cy.masked
assert autograd_cy.masked.__name__ == "autograd_cy.masked"
"""
    after = run(code)
    assert after.returncode == 0, after.stderr
