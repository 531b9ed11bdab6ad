"""What operations say of arguments that they refuse: the texts are PyTorch's, and nothing was written."""

import pytest

REFUSED = {
    "more numbers than memory": (lambda t: t.arange(1e-38, 3.4e38), "invalid size, possible overflow"),
    "steps into complex numbers": (
        lambda t: t.heaviside(t.ones(1), t.ones(1), out=t.ones(1) * 1j), "heaviside is not yet implemented for complex"),
    "places as floats": (
        lambda t: t.nonzero_static(t.ones(1), size=1, out=t.ones(1, 1)), "nonzero_static: Expected out tensor to have scalar"),
    "floats in sparse integers": (lambda t: t.ones(2).int().to_sparse().add_(t.ones(2).to_sparse()), "result type .*loat"),
    "complex factor of a sparse sum": (
        lambda t: t.add(t.ones(2).to_sparse(), t.ones(2).to_sparse(), alpha=1j), "For non-complex input tensors"),
    "fraction of sparse integers": (
        lambda t: t.sub(t.ones(2).int().to_sparse(), t.ones(2).int().to_sparse(), alpha=1.5), "For integral input tensors"),
    "difference of sparse truth": (
        lambda t: t.ones(2).bool().to_sparse() - t.ones(2).bool().to_sparse(), "Subtraction, the `-` operator, with two bool"),
    "memory format of a sparse tensor": (
        lambda t: t.empty_like(t.eye(2).to_sparse(), memory_format=t.preserve_format), "only supported by strided tensors"),
    "view of nothing": (lambda t: t.ones(0).view(-1, 0), "because the unspecified dimension size -1 can be any value"),
    "reshape of nothing": (lambda t: t.ones(0).reshape(-1, 0), "cannot reshape tensor of 0 elements into shape"),
    "resize beyond memory": (lambda t: t.empty(()).resize_([2, 4, 2**29, 2**29]), "Storage size calculation overflowed"),
    "resize beyond numbers": (lambda t: t.empty(()).resize_([8, 8, 2**29, 2**29]), "numel: integer multiplication overflow"),
    "resize to strides beyond numbers": (lambda t: t.empty(()).resize_([0, 4, 2**61]), "Stride calculation overflowed"),
    "complex view of scalars": (lambda t: t.view_as_complex(t.tensor(1.0)), "Input tensor must have one or more dimensions"),
    "complex view of triples": (lambda t: t.view_as_complex(t.ones(2, 3)), "Tensor must have a last dimension of size 2"),
    "complex view of integers": (
        lambda t: t.view_as_complex(t.ones(2, 2).int()), "but got a tensor of scalar type: Int"),
    "split at floats": (
        lambda t: t.tensor_split(t.ones(3), t.tensor(1.5)), "tensor_indices_or_sections to have dtype of long, but got Float"),
    "split at a matrix": (
        lambda t: t.tensor_split(t.ones(3), t.tensor([[1]])), "one-dimensional tensor, but got a tensor with 2 dims"),
    "histogram": (lambda t: t.histc(t.tensor([1, 2]), 4, 5, 1), "max must be larger than min"),
    "quantile": (lambda t: t.quantile(t.ones(2), -1.0), r"quantile\(\) q must be in the range \[0, 1\] but got -1"),
    "complex number in real rows": (
        lambda t: t.ones(2).index_fill_(0, t.tensor([0]), 1j), "Converting complex Scalar to non-complex type is not"),
    "sequence of vectors": (
        lambda t: t.linspace(t.tensor([0.0]), 3, 4), "linspace only supports 0-dimensional start and end tensors"),
}  # fmt: skip


@pytest.mark.parametrize("package", ["autograd_cy", "torch"])
@pytest.mark.parametrize("name", REFUSED)
def test_refused(package, name):
    module = pytest.importorskip(package)
    call, text = REFUSED[name]
    with pytest.raises(RuntimeError, match=text):
        call(module)


@pytest.mark.parametrize("package", ["autograd_cy", "torch"])
@pytest.mark.parametrize("number", [3, -1])
def test_index_copy_does_not_count_from_the_end(package, number):
    module = pytest.importorskip(package)
    x = module.ones(3)
    with pytest.raises(IndexError, match=f"index {number} is out of bounds for dimension 0 with size 3"):
        x.index_copy_(0, module.tensor([number]), module.zeros(1))
    assert x.tolist() == [1, 1, 1]
    assert x.index_fill_(0, module.tensor([-1]), 2).tolist() == [1, 1, 2]


@pytest.mark.parametrize("package", ["autograd_cy", "torch"])
def test_unravel_index_takes_integers(package):
    module = pytest.importorskip(package)
    for indices, shape, text in (
        (module.tensor(0.5), (2, 2), "expected 'indices' to be integer"),
        (module.tensor([1]), module.tensor([1, 2]), "expected 'shape' to be int or sequence"),
        (module.tensor([1]), (1, 2.0), "expected 'shape' sequence to only contain ints"),
    ):
        with pytest.raises(TypeError, match=text):
            module.unravel_index(indices, shape)


@pytest.mark.parametrize("package", ["autograd_cy", "torch"])
def test_sequences_between_tensors_require_no_grad(package):
    module = pytest.importorskip(package)
    start, end = module.tensor(1.0, requires_grad=True), module.tensor(2.0, requires_grad=True)
    for made in (module.linspace(start, end, 2), module.linspace(1, end, 2), module.logspace(start, 2, 2, 10).log10()):
        assert made.tolist() == pytest.approx([1, 2]) and not made.requires_grad


@pytest.mark.parametrize("package", ["autograd_cy", "torch"])
@pytest.mark.parametrize("name", ["empty", "zeros", "ones", "rand"])
def test_strided_is_the_layout(package, name):
    module = pytest.importorskip(package)
    assert getattr(module, name)(2, layout=module.strided).layout is module.strided
    assert module.zeros_like(module.ones(2), layout=module.strided).shape == (2,)


@pytest.mark.parametrize("package", ["autograd_cy", "torch"])
def test_tensors_of_one_element_as_numbers(package):
    module = pytest.importorskip(package)
    three, two = module.tensor(3.0), module.tensor(2.0)
    assert three.addcmul(three, three, value=two).item() == 21
    assert module.addcdiv(three, three, three, value=two).item() == 5
    assert module.clamp_max(module.tensor([True, False]), 0).tolist() == [0, 0]
    for call in (three.addcmul, three.addcdiv):
        with pytest.raises(TypeError, match=f"{call.__name__}\\(\\): argument 'value' must be Number, not Tensor"):
            call(three, three, value=module.tensor(2.0, requires_grad=True))


@pytest.mark.parametrize("package", ["autograd_cy", "torch"])
def test_elements_are_not_deleted(package):
    module = pytest.importorskip(package)
    x = module.ones(3)
    with pytest.raises(TypeError, match="Tensor does not support deleting items"):
        del x[0]
    assert x.tolist() == [1, 1, 1]


@pytest.mark.parametrize("package", ["autograd_cy", "torch"])
def test_small_floats_promote_to_themselves_alone(package):
    module = pytest.importorskip(package)
    assert module.promote_types(module.float8_e5m2, module.float8_e5m2) is module.float8_e5m2
    for other in (module.float8_e4m3fn, module.float32, module.bool):
        with pytest.raises(RuntimeError, match="Promotion for Float8 Types is not supported"):
            module.promote_types(module.float8_e5m2, other)
