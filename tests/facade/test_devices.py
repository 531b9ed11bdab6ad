"""Devices that are not there: names that print and compare; what would put a tensor there is PyTorch's own error."""

import pytest

ABSENT = {"cuda": AssertionError, "cuda:3": AssertionError, "xpu": AssertionError, "mtia": AssertionError, "mps": RuntimeError,
          "vulkan": RuntimeError}  # fmt: skip


@pytest.fixture(params=["autograd_cy", "torch"])
def torch(request):
    return pytest.importorskip(request.param)


@pytest.mark.parametrize("name", [*ABSENT, "meta", "hpu", "privateuseone", "xla:1"])
def test_a_device_is_a_name(torch, name):
    device = torch.device(name)
    kind, _, number = name.partition(":")
    assert (device.type, device.index, str(device)) == (kind, int(number) if number else None, name)
    assert device == torch.device(device) == eval(repr(device), {"device": torch.device})
    assert device != torch.device("cpu") and device != name
    assert {device: 1}[torch.device(name)] == 1


def test_numbers_are_of_accelerators(torch):
    for call in (lambda: torch.device(1), lambda: torch.ones(2, device=0), lambda: torch.ones(2).to(0)):
        with pytest.raises(RuntimeError, match="Cannot access accelerator device when none is available"):
            call()


WAYS = {
    "ones": lambda torch, where: torch.ones(2, device=where),
    "randn": lambda torch, where: torch.randn(2, device=where),
    "arange": lambda torch, where: torch.arange(2, device=where),
    "tensor": lambda torch, where: torch.tensor([1.0], device=where),
    "as_tensor": lambda torch, where: torch.as_tensor([1.0], device=where),
    "to": lambda torch, where: torch.ones(2).to(where),
    "to, by name": lambda torch, where: torch.ones(2).to(device=where, dtype=torch.float64),
    "new": lambda torch, where: torch.ones(2).new_zeros(2, device=where),
    "like": lambda torch, where: torch.zeros_like(torch.ones(2), device=where),
    "Linear": lambda torch, where: torch.nn.Linear(2, 2, device=where),
    "module": lambda torch, where: torch.nn.Linear(2, 2).to(where),
    "module, by name": lambda torch, where: torch.nn.Linear(2, 2).to(device=where),
}


@pytest.mark.parametrize("name", ABSENT)
@pytest.mark.parametrize("way", WAYS)
def test_nothing_goes_there(torch, way, name):
    with pytest.raises(ABSENT[name], match=r"not compiled with|not linked with|Could not run"):
        WAYS[way](torch, name)
    with pytest.raises(ABSENT[name], match=r"not compiled with|not linked with|Could not run"):
        WAYS[way](torch, torch.device(name))


def test_nothing_goes_there_by_a_call_of_its_name(torch):
    for thing in (torch.ones(2), torch.nn.Linear(2, 2)):
        with pytest.raises(AssertionError, match=r"^Torch not compiled with CUDA enabled"):
            thing.cuda()
