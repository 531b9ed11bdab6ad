"""``torch.utils.tensorboard``: curves, images and texts for TensorBoard, written by tensorboardX (facade).

It needs the extra: ``pip install autograd_cy[tensorboard]``. Without it, making a SummaryWriter is an ImportError.
"""

from collections.abc import Callable
from typing import Any

from .._core.graph.tensor import Tensor
from ._pytree import tree_map as _tree_map

__all__ = ["SummaryWriter"]

_METHODS = (
    "add_audio", "add_custom_scalars", "add_custom_scalars_marginchart", "add_custom_scalars_multilinechart",
    "add_embedding", "add_figure", "add_histogram", "add_histogram_raw", "add_image", "add_image_with_boxes",
    "add_images", "add_mesh", "add_onnx_graph", "add_pr_curve", "add_pr_curve_raw", "add_scalar", "add_scalars",
    "add_text", "add_video", "close", "flush",
)  # fmt: skip


class SummaryWriter:
    """``SummaryWriter(log_dir=None, comment="")`` writes data for TensorBoard to files in a folder.

    Its methods are PyTorch's: ``add_scalar(tag, value, step)``, ``add_histogram``, ``add_image``, ``add_text`` and so on.
    ImportError if tensorboardX is not installed. ``add_graph`` is a NotImplementedError.

    >>> from autograd_cy.utils.tensorboard import SummaryWriter
    >>> SummaryWriter.add_scalar.__name__
    'add_scalar'
    """

    def __init__(
        self,
        log_dir: Any = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ):
        try:
            import tensorboardX  # type: ignore[import-not-found, import-untyped, unused-ignore]
        except ImportError:
            raise ImportError(
                "SummaryWriter writes by tensorboardX, which is not installed: pip install autograd_cy[tensorboard]"
            ) from None
        folder = None if log_dir is None else str(log_dir)
        self._writer: Any = tensorboardX.SummaryWriter(folder, comment, purge_step, max_queue, flush_secs, filename_suffix)
        self.log_dir = self._writer.logdir
        self.purge_step, self.max_queue, self.flush_secs = purge_step, max_queue, flush_secs
        self.filename_suffix = filename_suffix

    @property
    def file_writer(self) -> Any:
        """The file writer of tensorboardX."""
        return self._writer.file_writer

    def get_logdir(self) -> str:
        """``get_logdir()``: the folder."""
        return str(self.log_dir)

    def add_hparams(
        self,
        hparam_dict: dict[str, Any],
        metric_dict: dict[str, Any],
        hparam_domain_discrete: Any = None,
        run_name: str | None = None,
        global_step: int | None = None,
    ) -> None:
        """``add_hparams({"lr": 0.1}, {"loss": 0.5})``: the settings of a run, with its results."""
        self._writer.add_hparams(_arrays(hparam_dict), _arrays(metric_dict), run_name, global_step)

    def add_tensor(self, tag: str, tensor: Tensor, global_step: int | None = None, walltime: float | None = None) -> None:
        """``add_tensor(tag, t)``: the values of a tensor, as a histogram."""
        self._writer.add_histogram(tag, _arrays(tensor), global_step, walltime=walltime)

    def add_graph(self, model: Any, input_to_model: Any = None, verbose: bool = False, use_strict_trace: bool = True) -> None:
        """``add_graph(model, inputs)``: NotImplementedError; `autograd.graph.draw` draws a graph."""
        raise NotImplementedError("add_graph(): this package has no TorchScript; autograd.graph.draw(y) draws a graph")

    def __enter__(self) -> "SummaryWriter":
        return self

    def __exit__(self, *exception: object) -> None:
        self._writer.close()


def _arrays(values: Any) -> Any:
    """The values with tensors replaced by NumPy arrays, and scalar tensors by numbers."""

    def converted(x: Any) -> Any:
        if not isinstance(x, Tensor):
            return x
        array = x.detach().numpy(force=True)
        return array.item() if array.ndim == 0 else array

    return _tree_map(converted, values)


def _method(name: str) -> Callable[..., Any]:
    def method(self: SummaryWriter, *args: Any, **kwargs: Any) -> Any:
        return getattr(self._writer, name)(*_arrays(args), **_arrays(kwargs))

    method.__name__, method.__qualname__ = name, f"SummaryWriter.{name}"
    method.__doc__ = f"``{name}(...)``: that of tensorboardX; tensors are taken where it takes arrays."
    return method


for _name in _METHODS:
    setattr(SummaryWriter, _name, _method(_name))
