"""The table of optimizers for the generic tests: options that take every way through a step."""

import inspect

import autograd_cy as ag

OPTIONS = {
    "SGD": [{}, {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
            {"momentum": 0.8, "dampening": 0.5, "maximize": True}],
    "Adam": [{}, {"weight_decay": 0.1, "amsgrad": True}, {"decoupled_weight_decay": True, "weight_decay": 0.1}],
    "AdamW": [{"weight_decay": 0.2, "maximize": True}],
    "NAdam": [{}, {"weight_decay": 0.1, "decoupled_weight_decay": True}],
    "RAdam": [{}, {"weight_decay": 0.1, "betas": (0.8, 0.5)}],
    "Adamax": [{}, {"weight_decay": 0.1}],
    "RMSprop": [{}, {"momentum": 0.9, "centered": True, "weight_decay": 0.1}],
    "Adagrad": [{}, {"lr_decay": 0.1, "initial_accumulator_value": 0.5, "weight_decay": 0.1}],
    "Adadelta": [{"rho": 0.7}, {"weight_decay": 0.1}],
    "ASGD": [{"t0": 0}, {"weight_decay": 0.1, "lambd": 0.1}],
    "Rprop": [{}],
    "Adafactor": [{}, {"weight_decay": 0.1, "maximize": True}],
    "Muon": [{}, {"nesterov": False, "adjust_lr_fn": "match_rms_adamw"}],
    "LBFGS": [{"max_iter": 3}, {"max_iter": 3, "line_search_fn": "strong_wolfe", "history_size": 2}],
}  # fmt: skip
MATRICES = {"Muon"}  # those whose parameters are matrices
REAL = {"Adafactor", "Muon"}  # those that take no complex parameters


def accepts(name: str, option: str) -> bool:
    return option in inspect.signature(getattr(ag.optim, name)).parameters


EVERY = [(name, options) for name, several in OPTIONS.items() for options in several]
DIFFERENTIABLE = [(name, options) for name, options in EVERY if accepts(name, "differentiable")]
