"""A simulation that takes new memory in each step for what could be written where it was."""

import autograd_cy as ag

start = ag.rand(1500, 1500)
drift = ag.rand(1500, 1500)


def slow():
    with ag.no_grad():
        state = start.clone()
        for _ in range(10):
            state = state + drift  # planted
        return state.sum()


def mended():
    with ag.no_grad():
        state = start.clone()
        for _ in range(10):
            state.add_(drift)
        return state.sum()
