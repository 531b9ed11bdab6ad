"""The profiler's names: found when they are asked for, under PyTorch's too, and known to be missing where they are."""

import importlib
import subprocess
import sys
import textwrap

import pytest

import autograd_cy as ag


def output_of(script):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True).stdout


def test_an_import_of_the_package_imports_no_profiler():
    script = """
        import sys, autograd_cy
        print([name for name in sys.modules if "profil" in name or "benchmark" in name])
    """
    assert output_of(script).strip() == "[]"


def test_scripts_for_torch_find_it():
    script = """
        import autograd_cy
        autograd_cy.install_as_torch()
        import torch
        import torch.utils.benchmark as benchmark
        from torch.profiler import ProfilerActivity, profile, record_function, schedule, tensorboard_trace_handler
        from torch.autograd.profiler import record_function as same
        from torch.autograd.profiler_util import EventList
        print(torch.profiler is autograd_cy.profiler, same is record_function is torch.profiler.record_function)
        with torch.profiler.profile(activities=[ProfilerActivity.CPU]) as prof:
            with record_function("mine"):
                pass
        print(isinstance(prof.events(), EventList), prof.key_averages()[0].key)
        print(benchmark is torch.utils.benchmark is autograd_cy.utils.benchmark)
        try:
            import torch.profiler.itt
        except ModuleNotFoundError as error:
            print(str(error).partition(":")[0])
    """
    assert output_of(script).splitlines() == ["True True", "True mine", "True", "No module named 'torch.profiler.itt'"]


@pytest.mark.parametrize(
    ("ours", "torchs", "absent"),
    [
        ("profiler", "profiler", {"DeviceType", "ExecutionTraceObserver"}),
        (
            "autograd.profiler",
            "autograd.profiler",
            {"EnforceUnique", "KinetoStepTracker", "MemRecordsAcc", "parse_nvprof_trace"},
        ),
        ("autograd.profiler_util", "autograd.profiler_util", {"EventMetadata", "MemRecordsAcc", "StringTable"}),
    ],
)
def test_names_are_pytorchs(ours, torchs, absent):
    pytest.importorskip("torch")
    theirs = importlib.import_module(f"torch.{torchs}")
    assert set(theirs.__all__) - set(importlib.import_module(f"autograd_cy.{ours}").__all__) == absent


@pytest.mark.parametrize("name", ["profile", "schedule", "record_function", "tensorboard_trace_handler"])
def test_arguments_are_pytorchs(name):
    """Ours may come on top."""
    pytest.importorskip("torch")
    import inspect

    import torch.profiler

    theirs = set(inspect.signature(getattr(torch.profiler, name)).parameters)
    assert theirs <= set(inspect.signature(getattr(ag.profiler, name)).parameters)


@pytest.mark.parametrize("owner", ["profile", "EventList", "FunctionEvent", "FunctionEventAvg"])
def test_methods_are_pytorchs(owner):
    pytest.importorskip("torch")
    import torch.autograd.profiler_util
    import torch.profiler

    import autograd_cy.autograd.profiler_util as util

    pairs = {name: (getattr(util, name), getattr(torch.autograd.profiler_util, name)) for name in util.__all__}
    ours, theirs = pairs.get(owner, (ag.profiler.profile, torch.profiler.profile))
    missing = {name for name in dir(theirs) if not name.startswith("_")} - set(dir(ours))
    own = {
        "profile": set(),
        "EventList": set(),
        "FunctionEvent": {"append_kernel", "key", "metadata_json"},
        "FunctionEventAvg": set(),
    }
    deprecated = {"cuda_time", "cuda_time_total", "self_cuda_time_total", "self_cuda_memory_usage"}
    attributes = {"cpu_time_total", "self_cpu_time_total", "self_cpu_memory_usage"}  # set in __init__ here
    assert missing <= own[owner] | deprecated | attributes


def test_names_that_scripts_take():
    util = ag.autograd.profiler_util
    assert not ag.autograd._profiler_enabled()
    with ag.autograd.profiler.profile():
        assert ag.autograd._profiler_enabled()
    assert util._format_time(1234.5) == "1.234ms"
    average = util.FunctionEventAvg()
    for start, end in ((10, 15), (20, 30)):
        average.add(util.FunctionEvent(id=0, node_id=2, name="step", thread=0, start_us=start, end_us=end))
    assert (average.key, average.count, average.cpu_time) == ("step", 2, 7.5)
    events = util.EventList(util.FunctionEvent(id=k, name="", thread=0, start_us=k, end_us=3) for k in (0, 1))
    events._populate_cpu_children()
    assert [[child.id for child in event.cpu_children] for event in events] == [[1], []]
