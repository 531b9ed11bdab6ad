"""Modules under the alias of torch: one object for both names, and a version for those who ask packaging tools."""

import subprocess
import sys

SCRIPT = """
import importlib.metadata, pickle, sys
import torch

module = torch.nn.Linear(1, 1)
module.register_forward_hook(print)
module._register_load_state_dict_pre_hook(print)
torch.optim.SGD(module.parameters(), lr=0.1)
twice = [name for name, found in sys.modules.items()
         if name.startswith("torch.") and sys.modules.get("autograd_cy" + name[5:], found) is not found]
print(twice)
(hook,) = module._load_state_dict_pre_hooks.values()
print(type(pickle.loads(pickle.dumps(hook))) is type(hook))
print(importlib.metadata.version("torch") == torch.__version__, importlib.metadata.files("torch"))
"""


def test_no_module_is_loaded_twice():
    done = subprocess.run([sys.executable, "-m", "autograd_cy", "-c", SCRIPT], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["[]", "True", "True None"], done.stdout + done.stderr


def test_an_operation_can_be_imported_at_the_first_line():
    """`torch.ops` is an object without a file: the import failed where nothing had asked for torch before."""
    script = "from torch.ops import aten; import torch; print(aten is torch.ops.aten, aten.relu(torch.ones(1)).item())"
    done = subprocess.run([sys.executable, "-m", "autograd_cy", "-c", script], capture_output=True, text=True)
    assert done.stdout == "True 1.0\n", done.stdout + done.stderr


def test_private_modules_that_are_in_rooms_here_are_found():
    script = "import torch._tensor_str, torch._lobpcg, torch._lowrank; print(torch._tensor_str.__name__)"
    done = subprocess.run([sys.executable, "-m", "autograd_cy", "-c", script], capture_output=True, text=True)
    assert done.stdout == "torch._tensor.text\n", done.stdout + done.stderr
