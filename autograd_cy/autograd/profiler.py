"""The older profiler, under the names of torch.autograd.profiler (facade)."""

from types import TracebackType
from typing import Any, NoReturn

from .._compat.missing import getattr_of as _getattr_of
from .._core.recording.events import is_recording as _profiler_enabled
from .._core.runtime.once import warn_user as _warn_user
from ..profiler._event_list import EventList
from ..profiler._events import FunctionEvent
from ..profiler._record_function import record_function
from ..profiler._session import BUFFER_EVENTS as _BUFFER_EVENTS
from ..profiler._session import Session as _Session

__all__ = ["EventList", "FunctionEvent", "emit_itt", "emit_nvtx", "load_nvprof", "profile", "record_function"]
__all__ += ["_profiler_enabled"]


class profile(_Session):
    """``with profile() as prof`` records a block, once; ``profile(enabled=False)`` does nothing, and `prof` is None.

    The result has `function_events`, `key_averages`, `table`, `total_average`, `self_cpu_time_total`, and exporters to files.
    Devices are ignored with a warning. RuntimeError if it is entered twice. `autograd_cy.profiler.profile` also has
    schedules, hints and pages.

    >>> import autograd_cy as ag
    >>> x = ag.ones(2)
    >>> with ag.autograd.profiler.profile() as prof:
    ...     y = x * 2
    >>> [event.name for event in prof.function_events]
    ['aten::mul']
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        experimental_config: Any = None,
        acc_events: bool = False,
        buffer_events: int = _BUFFER_EVENTS,
    ):
        super().__init__(
            record_shapes=record_shapes, with_flops=with_flops, profile_memory=profile_memory, with_stack=with_stack,
            acc_events=acc_events, buffer_events=buffer_events,
        )  # fmt: skip
        self.enabled, self.entered, self.with_modules = enabled, False, with_modules
        self.use_device = None
        if not enabled:
            return
        device = "cuda" if use_cuda else use_device
        if device is not None and device not in ("cuda", "xpu", "mtia", "hpu"):
            _warn_user(f"The {device} is not a valid device option.")
        elif device is not None:
            _warn_user(f"{device.upper()} is not available, disabling {device.upper()} profiling")
        if experimental_config is not None:
            _warn_user("profile: experimental_config is for PyTorch's libraries, it changes nothing here")
        if not use_cpu:
            raise AssertionError("No activities specified for the profiler: this package records the CPU")

    def __enter__(self) -> "profile | None":
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self.entered = True
        self.prepare()
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if self.enabled:
            self.stop()

    def __repr__(self) -> str:
        return "<unfinished torch.autograd.profile>" if self.recording is None else repr(self.function_events)

    def __str__(self) -> str:
        return "<unfinished torch.autograd.profile>" if self.recording is None else str(self.function_events)

    def _repr_html_(self) -> str:
        return f"<p>{self}</p>" if self.recording is None else self.function_events._repr_html_()


def emit_itt(enabled: bool = True, record_shapes: bool = False) -> NoReturn:
    """emit_itt() is not supported: it feeds Intel's VTune. `autograd_cy.profiler.profile` writes traces for Perfetto.

    >>> from autograd_cy.autograd.profiler import emit_itt
    >>> emit_itt()
    Traceback (most recent call last):
    NotImplementedError: emit_itt: this package has no ITT; profiler.profile(...).export_chrome_trace(path) writes a trace
    """
    raise NotImplementedError(
        "emit_itt: this package has no ITT; profiler.profile(...).export_chrome_trace(path) writes a trace"
    )


def emit_nvtx(enabled: bool = True, record_shapes: bool = False) -> NoReturn:
    """emit_nvtx() is not supported: this package runs on the CPU.

    >>> from autograd_cy.autograd.profiler import emit_nvtx
    >>> emit_nvtx()
    Traceback (most recent call last):
    NotImplementedError: emit_nvtx: this package is CPU only; profiler.profile(...).export_chrome_trace(path) writes a trace
    """
    raise NotImplementedError(
        "emit_nvtx: this package is CPU only; profiler.profile(...).export_chrome_trace(path) writes a trace"
    )


def load_nvprof(path: str) -> NoReturn:
    """load_nvprof(path) is not supported: this package runs on the CPU.

    >>> from autograd_cy.autograd.profiler import load_nvprof
    >>> load_nvprof("trace")
    Traceback (most recent call last):
    NotImplementedError: load_nvprof: this package is CPU only, and reads no traces of devices
    """
    raise NotImplementedError("load_nvprof: this package is CPU only, and reads no traces of devices")


__getattr__ = _getattr_of(__name__, "torch.autograd.profiler")
