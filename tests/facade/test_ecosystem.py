"""pandas, matplotlib, scikit-learn and SciPy take tensors as they take arrays; what requires grad is refused."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from common import leaf
from op_calls import OURS

import autograd_cy as ag

pytestmark = pytest.mark.skipif(not OURS, reason="about this package")

PACKAGES = Path(ag.__file__).parents[1]
X = np.arange(6.0).reshape(3, 2)


def test_a_dtype_is_one_for_numpy():
    """np.dtype(torch.float64) was a TypeError: pandas asks that of the other operand."""
    for name in ("bool", "uint8", "int64", "float16", "float32", "complex128"):
        assert np.dtype(getattr(ag, name)) == np.dtype(name)
    assert np.zeros(2, dtype=ag.int8).dtype == np.int8 and np.issubdtype(ag.ones(1).dtype, np.floating)
    assert np.result_type(ag.float32, ag.int64) == np.float64 and np.finfo(ag.float32).bits == 32


def test_pandas():
    pd = pytest.importorskip("pandas")
    x = ag.tensor(X)
    frame = pd.DataFrame(x, columns=["a", "b"])
    assert frame.to_numpy().tolist() == X.tolist() and frame.dtypes.tolist() == [np.float64] * 2
    frame = pd.DataFrame({"a": x[:, 0], "b": ag.tensor([2, 0, 1])}, index=ag.tensor([7, 8, 9]))
    assert frame.dtypes.tolist() == [np.float64, np.int64] and frame.index.tolist() == [7, 8, 9]
    frame["c"] = x[:, 1]
    series = pd.Series(x[:, 0])
    assert (series + x[:, 0]).tolist() == (x[:, 0] + series).tolist() == (2 * X[:, 0]).tolist()
    assert frame.iloc[ag.tensor([2, 0])].a.tolist() == [4.0, 0.0] and pd.cut(x[:, 0], 2).tolist()
    assert ag.tensor(frame[["a", "c"]]).tolist() == X.tolist() and ag.tensor(series).dtype == ag.float64


@pytest.mark.parametrize("call", [
    lambda pd, x: pd.DataFrame(x), lambda pd, x: pd.DataFrame({"a": x[:, 0]}), lambda pd, x: pd.Series(x[:, 0]),
    lambda pd, x: pd.DataFrame({"a": [1, 2, 3]}).assign(b=x[:, 0]), lambda pd, x: pd.Series([1, 2, 3]) * x[:, 0],
    lambda pd, x: x[:, 0] * pd.Series([1, 2, 3]), lambda pd, x: pd.isna(x),
])  # fmt: skip
def test_pandas_cuts_no_graph(call):
    pd = pytest.importorskip("pandas")
    with pytest.raises(RuntimeError, match="requires grad"):
        call(pd, leaf(X))


@pytest.fixture
def axes():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    figure, axes = pyplot.subplots()
    yield axes
    figure.canvas.draw()
    pyplot.close(figure)


@pytest.mark.parametrize("draw", [
    lambda axes, x, v: axes.plot(v), lambda axes, x, v: axes.plot(v, x), lambda axes, x, v: axes.scatter(v, v, c=v, s=v),
    lambda axes, x, v: axes.hist(v), lambda axes, x, v: axes.hist(x), lambda axes, x, v: axes.imshow(x),
    lambda axes, x, v: axes.bar(ag.tensor([2, 0, 1]), v), lambda axes, x, v: axes.fill_between(v, v, v + 1),
    lambda axes, x, v: axes.errorbar(v, v, yerr=v), lambda axes, x, v: axes.contourf(ag.ones(3, 3).cumsum(0)),
    lambda axes, x, v: axes.axhline(v[0]), lambda axes, x, v: axes.set_xlim(v[0], v[1]), lambda axes, x, v: axes.boxplot(x),
    lambda axes, x, v: axes.stackplot(v, v, v), lambda axes, x, v: axes.pcolormesh(x), lambda axes, x, v: axes.set_xticks(v),
    lambda axes, x, v: axes.imshow((ag.ones(2, 2, 3) * 255).to(ag.uint8)), lambda axes, x, v: axes.text(v[0], v[1], "q"),
])  # fmt: skip
def test_matplotlib(axes, draw):
    x = ag.tensor(X)
    draw(axes, x, x[:, 0])


@pytest.mark.filterwarnings("ignore:Converting a tensor")  # matplotlib asks whether the first number is finite
@pytest.mark.parametrize("draw", [
    lambda axes, x: axes.plot(x), lambda axes, x: axes.scatter(x[:, 0], X[:, 1]), lambda axes, x: axes.hist(x),
    lambda axes, x: axes.imshow(x), lambda axes, x: axes.axhline(x[0, 0]),
])  # fmt: skip
def test_matplotlib_draws_nothing_that_requires_grad(axes, draw):
    with pytest.raises(RuntimeError, match="requires grad"):
        draw(axes, leaf(X))


def data():
    ag.manual_seed(0)
    x = ag.randn(60, 3, dtype=ag.float64)
    return x, (x[:, 0] > 0).long(), x @ ag.tensor([1.0, 2.0, 3.0], dtype=ag.float64)


def test_sklearn_fits_and_predicts():
    pytest.importorskip("sklearn")
    from sklearn import cluster, decomposition, ensemble, linear_model, metrics, model_selection, pipeline, preprocessing, svm

    x, classes, y = data()
    model = linear_model.LinearRegression().fit(x, y, sample_weight=ag.ones(60))
    assert model.coef_ == pytest.approx([1, 2, 3]) and model.predict(x) == pytest.approx(y.numpy())
    assert ensemble.RandomForestClassifier(5).fit(x, classes).predict(x).shape == (60,)
    assert pipeline.make_pipeline(preprocessing.StandardScaler(), svm.SVC()).fit(x, classes).score(x, classes) > 0.9
    assert cluster.KMeans(2, n_init=1).fit(x).labels_.shape == (60,) and decomposition.PCA(2).fit_transform(x).shape == (60, 2)
    assert metrics.accuracy_score(classes, classes) == 1 and metrics.mean_squared_error(y, y + 1) == pytest.approx(1)
    parts = model_selection.train_test_split(x, classes)
    assert [type(part) for part in parts] == [ag.Tensor] * 4
    assert model_selection.cross_val_score(svm.SVC(), x, classes, cv=3).min() > 0.5
    with pytest.raises(RuntimeError, match="requires grad"):
        linear_model.LinearRegression().fit(x.clone().requires_grad_(), y)


def test_sklearn_on_the_array_api(monkeypatch):
    """Under array_api_dispatch estimators compute with tensors, and return them."""
    pytest.importorskip("sklearn")
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    import sklearn
    from sklearn import preprocessing

    x, _, _ = data()
    try:
        with sklearn.config_context(array_api_dispatch=True):
            scaled = preprocessing.StandardScaler().fit_transform(x)
    except (ImportError, RuntimeError) as error:  # SciPy reads its switch when it is imported
        pytest.skip(str(error))
    assert type(scaled) is ag.Tensor and scaled.mean(0).abs().max() < 1e-12


def test_scipy_on_the_array_api():
    """SciPy's functions of any library are differentiable; those of arrays alone refuse to cut a graph."""
    pytest.importorskip("scipy")
    text = """
import autograd_cy as ag, scipy.special, scipy.stats
x = ag.tensor([1.0, 2.0, 4.0], dtype=ag.float64, requires_grad=True)
scipy.special.logsumexp(x).backward()
assert x.grad.allclose(x.detach().softmax(0))
ag.testing.check_gradients(scipy.stats.gmean, x)
try:
    scipy.special.gamma(x)
except RuntimeError as error:
    print(error)
"""
    environment = {**os.environ, "SCIPY_ARRAY_API": "1", "PYTHONPATH": str(PACKAGES)}
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=environment, check=False)
    assert "requires grad" in done.stdout, done.stderr
