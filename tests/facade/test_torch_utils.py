"""torch._utils, torch.__future__: helpers that libraries take from there, and settings of how modules are converted."""

import pickle

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy import _utils


def test_element_size():
    assert [_utils._element_size(dtype) for dtype in (ag.bool, ag.int16, ag.float32, ag.complex128)] == [1, 2, 4, 16]
    with pytest.raises(RuntimeError, match=r"expected torch\.dtype, but got"):
        _utils._element_size(4)


def test_flattened_tensors_come_back_as_views():
    tensors = [ag.ones(2, 2), ag.zeros(3), ag.tensor(5.0)]
    flat = _utils._flatten_dense_tensors(tensors)
    assert flat.tolist() == [1, 1, 1, 1, 0, 0, 0, 5]
    parts = _utils._unflatten_dense_tensors(flat, tensors)
    assert [part.shape for part in parts] == [tensor.shape for tensor in tensors]
    flat[0] = 7
    assert parts[0][0, 0].item() == 7
    with pytest.raises(RuntimeError, match="exceeds dimension size"):
        _utils._unflatten_dense_tensors(flat[:5], tensors)


def test_tensors_in_groups_of_one_type():
    few, many, double, last = ag.ones(2), ag.ones(5), ag.ones(3, dtype=ag.float64), ag.ones(1, dtype=ag.float64)
    groups = list(_utils._take_tensors([few, double, many, last], 16))
    assert [[id(t) for t in group] for group in groups] == [[id(few)], [id(double)], [id(many)], [id(last)]]
    groups = list(_utils._take_tensors([few, double, many, last], 100))
    assert [[id(t) for t in group] for group in groups] == [[id(few), id(many)], [id(double), id(last)]]
    ordered = _utils._reorder_tensors_as([few, many, double], [last, few, few])
    assert [id(t) for t in ordered] == [id(double), id(few), id(many)]


def test_device_index():
    index = _utils._get_device_index
    assert (index(3), index("cuda:1"), index(ag.device("cuda:2")), index("cpu", allow_cpu=True)) == (3, 1, 2, -1)
    assert index(None, optional=True) is None and index("cuda", optional=True) is None
    for device, text in ((None, "got:None"), ("cuda", "with a specified index"), (1.5, "got:1.5"), ("cpu", "non cpu device")):
        with pytest.raises(ValueError, match=text):
            index(device)
    assert _utils._get_device_module("cpu") is ag.cpu
    assert _utils._get_available_device_type() is _utils._get_all_device_indices() is None


def test_rebuilt_tensors():
    x = ag.arange(6.0)
    part = _utils._rebuild_tensor_v2(x._typed_storage(), 1, (2, 2), (2, 1), True, {})
    assert part.tolist() == [[1, 2], [3, 4]] and part.requires_grad
    assert _utils._rebuild_tensor(x._typed_storage(), 2, (1,), (1,)).data_ptr() == x[2:].data_ptr()
    assert isinstance(_utils._rebuild_parameter(x, True, {}), ag.nn.Parameter)
    assert _utils._rebuild_parameter_with_state(x, True, {}, {"name": "a"}).name == "a"
    for made in (
        _utils._rebuild_device_tensor_from_numpy(np.ones(2), ag.float16, "cpu", True),
        _utils._rebuild_device_tensor_from_cpu_tensor(ag.ones(2), ag.float16, "cpu", True),
    ):
        assert made.dtype is ag.float16 and made.is_leaf and made.requires_grad


class TwoArguments(Exception):
    def __init__(self, first, second):
        super().__init__(first, second)


def caught(error, **options):
    try:
        raise error
    except Exception:
        return pickle.loads(pickle.dumps(_utils.ExceptionWrapper(**options)))


def test_exceptions_are_raised_again_with_their_traceback():
    with pytest.raises(ValueError, match=r"Caught ValueError in worker 1\.\nOriginal Traceback \(most recent") as found:
        caught(ValueError("bad"), where="in worker 1").reraise()
    assert str(found.value).endswith("ValueError: bad\n")
    with pytest.raises(KeyError) as missing:
        caught(KeyError("a")).reraise()
    assert str(missing.value).startswith("Caught KeyError in background.\nOriginal")  # not its repr()
    with pytest.raises(RuntimeError, match="Caught TwoArguments"):
        caught(TwoArguments(1, 2)).reraise()


def test_helpers_of_python():
    class Named:
        @_utils.classproperty
        def name(cls):
            return cls.__name__

    assert Named.name == Named().name == "Named"
    assert _utils.try_import("no_such_module_at_all") is None and _utils.try_import("pickle") is pickle
    assert _utils._import_dotted_name("autograd_cy.nn.Linear") is ag.nn.Linear
    assert _utils.cpu_count() >= 1 and not _utils.is_compiling()
    assert _utils._handle_complex(ag.ones(2, dtype=ag.complex64)).shape == (2, 2)
    assert _utils.render_call(ag.sum, [ag.ones(3)], {"dim": 0}) == "torch.sum(tensor([...], size=(3,)), dim=0)"


@pytest.fixture
def overwriting():
    ag.__future__.set_overwrite_module_params_on_conversion(True)
    yield
    ag.__future__.set_overwrite_module_params_on_conversion(False)


def test_conversions_make_new_parameters_where_that_is_asked_for(overwriting):
    layer = ag.nn.Linear(2, 1)
    weight, weight.grad = (layer.weight, ag.ones(1, 2))
    gradient, view = weight.grad, weight[:]
    layer.double()
    assert layer.weight is not weight and layer.weight.dtype is layer.weight.grad.dtype is ag.float64
    assert weight.dtype is gradient.dtype is ag.float32 and weight.grad is gradient
    with ag.no_grad():
        view[0, 0] = 5
    assert weight[0, 0].item() == 5 and isinstance(layer.weight, ag.nn.Parameter)


def test_conversions_keep_parameters_by_default():
    layer = ag.nn.Linear(2, 1)
    weight = layer.weight
    assert not ag.__future__.get_overwrite_module_params_on_conversion()
    assert layer.double().weight is weight and weight.dtype is ag.float64


def test_swapping_is_noted_with_a_warning():
    with pytest.warns(UserWarning, match="there is no swap_tensors"):
        ag.__future__.set_swap_module_params_on_conversion(True)
    try:
        assert ag.__future__.get_swap_module_params_on_conversion()
    finally:
        ag.__future__.set_swap_module_params_on_conversion(False)
