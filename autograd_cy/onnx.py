"""``torch.onnx``: nothing is written in that format here; each function says so when it is called (facade)."""

from ._compat import answers as _answers

__all__ = [
    "OnnxExporterError", "dynamo_export", "export", "is_in_onnx_export", "is_onnxrt_backend_supported",
    "register_custom_op_symbolic", "unregister_custom_op_symbolic",
]  # fmt: skip


class OnnxExporterError(RuntimeError):
    """What PyTorch's exporter raises; nothing raises it here.

    >>> import autograd_cy as ag
    >>> issubclass(ag.onnx.OnnxExporterError, RuntimeError)
    True
    """


is_in_onnx_export = is_onnxrt_backend_supported = _answers.answers(False)
export = dynamo_export = _answers.refuses(NotImplementedError, "torch.onnx.{}: this package does not write ONNX files")
register_custom_op_symbolic = unregister_custom_op_symbolic = export

_answers.named(globals(), "this package does not write ONNX files")
