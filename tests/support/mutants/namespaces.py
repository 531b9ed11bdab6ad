"""One rule in three libraries: a Function of autograd_cy or PyTorch, a primitive of HIPS autograd.

(MyGrad ships no checker of gradients, so nothing is made for it.)
"""

import numpy as np

__all__ = ["LIBRARIES", "Hips", "function", "function_of", "in_memory_order"]

LIBRARIES = ("autograd_cy", "torch", "autograd")


class Hips:
    """autograd.numpy by PyTorch's names, as far as rules and compositions use them."""

    def __init__(self) -> None:
        import autograd.numpy

        self._np = autograd.numpy

    def __getattr__(self, name):
        return getattr(self._np, name)

    def sum(self, x, dim=None, keepdim=False):
        return self._np.sum(x, axis=dim, keepdims=keepdim)

    def mean(self, x, dim=None, keepdim=False):
        return self._np.mean(x, axis=dim, keepdims=keepdim)

    def amax(self, x, dim=None, keepdim=False):
        return self._np.max(x, axis=dim, keepdims=keepdim)

    def cumsum(self, x, dim):
        return self._np.cumsum(x, axis=dim)

    def unsqueeze(self, x, dim):
        return self._np.expand_dims(x, dim)

    def flip(self, x, dims):
        return x[::-1]  # of the first axis: its own flip has no forward mode

    def roll(self, x, shifts, dims):
        return self._np.roll(x, shifts, axis=dims)

    def cat(self, parts, dim=0):
        return self._np.concatenate(parts, axis=dim)

    def stack(self, parts, dim=0):
        return self._np.stack(parts, axis=dim)

    def transpose(self, x, a, b):
        return self._np.swapaxes(x, a, b)

    def relu(self, x):
        return self._np.maximum(x, 0.0)

    def sigmoid(self, x):
        return 1 / (1 + self._np.exp(-x))

    def softmax(self, x, dim):
        e = self._np.exp(x - self._np.max(x, axis=dim, keepdims=True))
        return e / self._np.sum(e, axis=dim, keepdims=True)

    def logsumexp(self, x, dim):
        return self._np.log(self._np.sum(self._np.exp(x), axis=dim))

    def clone(self, x):
        return x * 1

    def detach(self, x):
        from autograd.tracer import getval

        return getval(x)


def detach(xp, x):
    """x, of which no library knows where it comes from."""
    return xp.detach(x) if isinstance(xp, Hips) else x.detach()


def function_of(rule, module, library):
    """The rule as a function of tensors (or of arrays, for HIPS autograd)."""
    return _primitive(rule, module) if library == "autograd" else _function(rule, module)


def _tuple(values):
    return values if isinstance(values, tuple) else (values,)


def _function(rule, t):
    class Made(t.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(*inputs):
            return rule.value(t, *inputs)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx, *gs):
            return rule.vjp(t, *gs, *ctx.saved_tensors)

        @staticmethod
        def jvp(ctx, *tangents):
            return rule.jvp(t, *tangents, *ctx.saved_tensors)

    if rule.jvp is None:
        del Made.jvp
    Made.__name__ = Made.__qualname__ = rule.name.title().replace(" ", "")
    return lambda *inputs: Made.apply(*inputs)


def _primitive(rule, xp):
    from autograd.extend import defjvp_argnums, defvjp_argnums, primitive

    made = primitive(lambda *inputs: rule.value(xp, *inputs))

    def vjp(argnums, ans, args, kwargs):
        # HIPS autograd's gradient is the conjugate of PyTorch's.
        def pull(g):
            gradients = _tuple(rule.vjp(xp, xp.conj(g), *args))
            return tuple(xp.conj(gradients[k]) for k in argnums)

        return pull

    def jvp(argnums, gs, ans, args, kwargs):
        tangents = [xp.zeros_like(a) for a in args]
        for k, g in zip(argnums, gs, strict=True):
            tangents[k] = g
        return rule.jvp(xp, *tangents, *args)

    defvjp_argnums(made, vjp)
    if rule.jvp is not None:
        defjvp_argnums(made, jvp)
    return made


def function(t, forward, backward, vmap=None):
    """A Function of `forward(ctx, *inputs)` and `backward(ctx, *gs)`, in autograd_cy or PyTorch.

    With a rule `vmap(info, dims, *inputs)`, its forward takes the inputs alone, and all of them are saved.
    """

    class Made(t.autograd.Function):
        pass

    Made.forward, Made.backward = staticmethod(forward), staticmethod(backward)
    if vmap is not None:

        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        Made.setup_context, Made.vmap = staticmethod(setup_context), staticmethod(vmap)
    return lambda *inputs: Made.apply(*inputs)


def in_memory_order(t, x):
    """What a kernel reads that takes x for contiguous: its numbers in the order of the memory, gaps and all."""
    array = x.detach().numpy()
    strides = [abs(s) for s in array.strides]
    low = array
    for axis, stride in enumerate(array.strides):
        if stride < 0:
            low = np.flip(low, axis)
    span = sum((n - 1) * s for n, s in zip(array.shape, strides, strict=True)) // array.itemsize + 1 if array.size else 0
    memory = np.lib.stride_tricks.as_strided(low, (span,), (array.itemsize,))
    return t.from_numpy(np.resize(memory, array.shape).astype(array.dtype)) if array.size else x.detach()
