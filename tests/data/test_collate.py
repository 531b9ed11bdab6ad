"""utils.data._utils.collate: functions for samples of other types."""

import numpy as np

import autograd_cy as torch
from autograd_cy.utils.data._utils.collate import collate, collate_tensor_fn, default_collate_fn_map


class Own(tuple):
    pass


def test_functions_for_types():
    functions = {int: lambda batch, *, collate_fn_map: sum(batch), (str, bytes): lambda batch, *, collate_fn_map: len(batch)}
    assert collate([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}], collate_fn_map=functions) == {"a": 3, "b": 2}
    assert collate([[1, True], [2, False]], collate_fn_map=functions) == [3, 1]


def test_the_very_type_counts_first():
    functions = {int: lambda batch, *, collate_fn_map: "int", bool: lambda batch, *, collate_fn_map: "bool"}
    assert collate([True], collate_fn_map=functions) == "bool"


def test_functions_get_the_map():
    def pairs(batch, *, collate_fn_map):
        return [collate(list(column), collate_fn_map=collate_fn_map) for column in zip(*batch, strict=True)]

    made = collate([Own((1, 2.0)), Own((3, 4.0))], collate_fn_map={Own: pairs, **default_collate_fn_map})
    assert [part.tolist() for part in made] == [[1, 3], [2.0, 4.0]]


def test_the_map_of_default_collate_can_be_extended(monkeypatch):
    monkeypatch.setitem(default_collate_fn_map, Own, lambda batch, *, collate_fn_map: "own")
    assert torch.utils.data.default_collate([(Own(), 1), (Own(), 2)])[0] == "own"
    assert list(torch.utils.data.DataLoader([Own(), Own()], batch_size=2)) == ["own"]


def test_tensors_and_numbers():
    assert collate_tensor_fn([torch.ones(2), torch.zeros(2)]).tolist() == [[1, 1], [0, 0]]
    assert torch.utils.data.default_collate([np.float32(1), np.float32(2)]).dtype == torch.float32
