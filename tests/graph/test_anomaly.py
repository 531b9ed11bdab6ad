"""Anomaly mode: the traceback of the forward call, NaN in gradients, NaN losses."""

import threading
import traceback
import warnings

import pytest
from common import differs, leaf

import autograd_cy as torch
from autograd_cy import autograd
from autograd_cy.autograd import detect_anomaly, set_detect_anomaly

NAN = "Function 'SqrtBackward0' returned nan values in its 0th output"
DETECTED = r"Error detected in SqrtBackward0\. Traceback of forward call that caused the error"


def masked_root(x):
    """No NaN in the result, but one in the gradient."""
    return torch.where(x > 0, called_here(x), torch.zeros_like(x)).sum()


def called_here(x):
    return torch.sqrt(x)


def failure(work, *arguments, match=NAN, kind=RuntimeError):
    """The error that work(*arguments) raises, and the texts of the warnings on the way."""
    with warnings.catch_warnings(record=True) as caught, pytest.raises(kind, match=match) as info:
        warnings.simplefilter("always")
        work(*arguments)
    return info.value, [str(w.message) for w in caught]


def notes(error):
    return "\n".join(getattr(error, "__notes__", []))


# The mode


def test_switching_it_on_warns():
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled") as caught:
        mode = detect_anomaly()
    assert caught[0].filename == __file__ and not torch.is_anomaly_enabled()
    with mode:
        assert torch.is_anomaly_enabled() and torch.is_anomaly_check_nan_enabled()
    assert not torch.is_anomaly_enabled()


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_modes_nest_and_come_back():
    with detect_anomaly(check_nan=False):
        assert torch.is_anomaly_enabled() and not torch.is_anomaly_check_nan_enabled()
        with set_detect_anomaly(False):
            assert not torch.is_anomaly_enabled() and torch.is_anomaly_check_nan_enabled()
        with detect_anomaly():
            assert torch.is_anomaly_check_nan_enabled()
        assert torch.is_anomaly_enabled() and not torch.is_anomaly_check_nan_enabled()
    assert not torch.is_anomaly_enabled() and torch.is_anomaly_check_nan_enabled()


def test_set_detect_anomaly_works_as_a_function():
    set_detect_anomaly(True, check_nan=False)
    assert torch.is_anomaly_enabled() and not torch.is_anomaly_check_nan_enabled()
    torch.set_anomaly_enabled(True)
    assert torch.is_anomaly_enabled() and torch.is_anomaly_check_nan_enabled()
    set_detect_anomaly(False)
    assert not torch.is_anomaly_enabled()


@pytest.mark.parametrize("arguments, message", [
    (("a",), r"'enabled' \(position 1\) must be bool, not str"),
    ((1,), r"'enabled' \(position 1\) must be bool, not int"),
    ((True, "a"), r"'check_nan' \(position 2\) must be bool, not str"),
])  # fmt: skip
def test_bools_only(arguments, message):
    with pytest.raises(TypeError, match=message):
        set_detect_anomaly(*arguments)
    assert not torch.is_anomaly_enabled()


@differs("anomaly mode in threads", "the mode is that of the whole process")
def test_it_belongs_to_its_thread():
    seen = []
    with set_detect_anomaly(True):
        thread = threading.Thread(target=lambda: seen.append(torch.is_anomaly_enabled()))
        thread.start()
        thread.join()
    assert seen == [False]


# NaN in a gradient


def test_a_gradient_that_is_nan_is_an_error():
    with set_detect_anomaly(True):
        _, texts = failure(lambda: masked_root(leaf([4.0, -1.0, -1.0])).backward())
    (text,) = [text for text in texts if "Error detected" in text]
    assert text.startswith("Error detected in SqrtBackward0. Traceback of forward call that caused the error:\n")
    assert "in called_here\n    return torch.sqrt(x)" in text and "in masked_root" in text


@differs("what errors tell", "the traceback is in the warning only, and the index isn't said")
def test_the_exception_says_it_too():
    with set_detect_anomaly(True):
        error, _ = failure(lambda: masked_root(leaf([4.0, -1.0, -1.0])).backward())
    assert "NaN at [1], the first of 2, in torch.float64 [3]" in str(error)
    assert "in called_here\n    return torch.sqrt(x)" in notes(error) and "Error detected in SqrtBackward0" in notes(error)
    assert "called_here" in "".join(traceback.format_exception(error))


def test_no_error_without_the_check():
    x = leaf([4.0, -1.0])
    with set_detect_anomaly(True, check_nan=False):
        masked_root(x).backward()
    assert x.grad[0].item() == 0.25 and x.grad[1].isnan()


@differs("what errors tell", "a warning that is an error takes the place of the error")
def test_a_filter_that_raises_does_not_hide_the_error(capsys):
    with set_detect_anomaly(True), warnings.catch_warnings(), pytest.raises(RuntimeError, match=NAN) as info:
        warnings.simplefilter("error")
        masked_root(leaf([-1.0])).backward()
    assert "called_here" in notes(info.value)
    assert "Error detected in " in capsys.readouterr().err


def test_nodes_from_before_the_mode_have_no_traceback():
    y = masked_root(leaf([-1.0]))
    with set_detect_anomaly(True):
        _, texts = failure(y.backward)
    assert any("No forward pass information available. Enable detect anomaly during forward pass" in text for text in texts)


@differs("what errors tell", "nodes don't know where they were recorded")
def test_but_they_know_where_they_were_recorded():
    y = masked_root(leaf([-1.0]))
    with set_detect_anomaly(True):
        error, _ = failure(y.backward)
    assert "in called_here" in notes(error) and "in called_here" in str(error)


def test_a_function_that_raises():
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            raise ValueError("on purpose")

    def call_it(x):
        return Fails.apply(x)

    with set_detect_anomaly(True):
        _, texts = failure(lambda: call_it(leaf(1.0)).backward(), match="on purpose", kind=ValueError)
    assert any("Error detected in FailsBackward" in text and "in call_it" in text for text in texts)


def test_a_function_that_returns_nan():
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, g):
            return g, g * float("nan")

    with set_detect_anomaly(True):
        y = Wrong.apply(leaf(1.0), leaf(2.0))
        failure(y.backward, match="'WrongBackward' returned nan values in its 1th output")


def test_the_grad_mode_and_the_graph_are_as_before_after_an_error():
    x = leaf([4.0, -1.0])
    y = masked_root(x)
    with set_detect_anomaly(True):
        failure(lambda: y.backward(retain_graph=True))
    assert torch.is_grad_enabled() and x.grad is None
    y.backward()
    assert x.grad[0].item() == 0.25


# Double backward


def test_the_parents_of_a_node_are_told():
    def first(x):
        return x**1.5

    x = leaf([0.0, 4.0])
    with set_detect_anomaly(True):
        y = first(x).sum()
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        (h,) = torch.autograd.grad(g.sum(), x, create_graph=True)
        _, texts = failure(lambda: torch.autograd.grad(torch.where(x > 0, h, torch.zeros_like(h)).sum(), x),
                           match=r"PowBackward\d' returned nan values")
    induced = [text for text in texts if "Previous calculation was induced by PowBackward" in text]
    assert len(induced) == 2 and "in first" in induced[-1]
    assert all("Traceback of forward call that induced the previous calculation" in text for text in induced)


def test_metadata_has_the_traceback_and_the_parent():
    x = leaf(2.0)
    with set_detect_anomaly(True):
        y = called_here(x)
        assert list(y.grad_fn.metadata) == ["traceback_"]
        (g,) = torch.autograd.grad(y, x, create_graph=True)
    lines = y.grad_fn.metadata["traceback_"]
    assert len(lines) > 1 and "return torch.sqrt(x)" in "".join(lines)
    assert g.grad_fn.metadata["parent_"] is y.grad_fn
    assert called_here(x).grad_fn.metadata == {}


# What is NaN before backward begins


@differs("a NaN loss", "passes")
def test_a_nan_loss_is_an_error_that_names_the_first_nan():
    def loss(x):
        y = (x * 2).log()
        return (y + x).sum()

    x = leaf([1.0, -1.0])
    with set_detect_anomaly(True):
        y = loss(x)
        error, texts = failure(y.backward, match=r"element 0 of tensors is NaN at \[\] in torch.float64 \[\]")
    assert "output of SumBackward0" in str(error)
    assert "first NaN in Log, at [1] in torch.float64 [2]" in notes(error)
    assert any("Error detected in LogBackward0" in text and "y = (x * 2).log()" in text for text in texts)
    assert x.grad is None


@differs("a NaN loss", "passes")
def test_a_nan_leaf_and_a_nan_seed_are_errors():
    x = leaf([float("nan"), 1.0])
    with set_detect_anomaly(True):
        failure(lambda: x.backward(torch.ones_like(x)), match="is NaN at .* it is a leaf")
        seed = torch.tensor([float("nan")]).double()
        failure(lambda: (x * 2)[1:].backward(seed), match="element 0 of gradients tuple is NaN")
        failure(lambda: torch.autograd.grad(x.sum(), x), match="element 0 of tensors is NaN")


def test_a_nan_loss_passes_without_the_check():
    x = leaf([-1.0])
    with set_detect_anomaly(True, check_nan=False):
        x.log().sum().backward()
    assert x.grad.item() == -1.0


# A saved tensor that was written to


def test_the_hint_of_the_stale_save_error():
    x = leaf([1.0, 2.0])
    with set_detect_anomaly(True):
        y = x.exp()
        with torch.no_grad():
            y.mul_(2)
        failure(y.sum().backward, match="expected version 0 instead. Hint: the backtrace further above shows the operation")
    y = x.exp()
    with torch.no_grad():
        y.mul_(2)
    failure(y.sum().backward, match="Hint: enable anomaly detection to find the operation that failed")


def test_the_names_stand_where_they_are_in_torch():
    assert autograd.anomaly_mode.detect_anomaly is autograd.detect_anomaly
    assert autograd.anomaly_mode.set_detect_anomaly is autograd.set_detect_anomaly


def test_recording_from_threads_of_other_modes():
    with set_detect_anomaly(True):
        x = leaf(2.0)
        thread = threading.Thread(target=lambda: (x * x).backward())
        thread.start()
        thread.join()
    assert x.grad.item() == 4.0
