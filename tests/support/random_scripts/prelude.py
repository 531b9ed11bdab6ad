"""What the lines of a script call. Its text stands before them: `torch` is the module that is tried."""

import torch

fw = torch.autograd.forward_ad
log = []  # what hooks saw, in order


def seen(t):
    """A tensor as plain data."""
    if not isinstance(t, torch.Tensor):
        return type(t).__name__ if not isinstance(t, tuple) else tuple(seen(x) for x in t)
    return str(t.dtype), tuple(t.shape), t.tolist()


def fresh(t):
    """A tensor that knows its place in the graph after a write: PyTorch 2.13 crashes at hooks of a view that doesn't."""
    t.grad_fn  # noqa: B018
    return t


def own(g):
    """A gradient in memory of its own: PyTorch's are expanded now and then, or share it."""
    return g if g is None else torch.zeros(g.shape, dtype=g.dtype) + g


def like(tensors):
    """A seed of ones for each."""
    return [torch.ones_like(t) for t in tensors]


def see(name):
    """A hook of any kind, which notes its arguments."""
    return lambda *args: log.append((name, *(seen(tuple(x) if isinstance(x, list) else x) for x in args)))


def scale(name, factor):
    """A hook of a tensor, which replaces the gradient."""

    def hook(g):
        log.append((name, seen(g)))
        return g * factor

    return hook


def scale_each(name, factor):
    """A hook of a node, before it (gradients) or after it (inputs, outputs), which replaces the gradients."""

    def hook(gradients, *outputs):
        log.append((name, seen(gradients), *map(seen, outputs)))
        return tuple(g if g is None else g * factor for g in gradients)

    return hook


def fail(name):
    def hook(*args):
        log.append((name, "fails"))
        raise ValueError(name)

    return hook


def pack(t):
    return t.detach().clone()


def unpack(t):
    return t


class Twice(torch.autograd.Function):
    """2 * x, which saves nothing."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


class Product(torch.autograd.Function):
    """a * b, with all rules."""

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        ctx.save_for_forward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return (g * b).sum_to_size(a.shape), (g * a).sum_to_size(b.shape)

    @staticmethod
    def jvp(ctx, s, t):
        a, b = ctx.saved_tensors
        return (0 if s is None else s * b) + (0 if t is None else a * t)


class InPlace(torch.autograd.Function):
    """Multiplies by 3 in place."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(3)

    @staticmethod
    def backward(ctx, g):
        return g * 3


class Same(torch.autograd.Function):
    """Its input, and a view of it."""

    @staticmethod
    def forward(ctx, x):
        return x, x.view_as(x)

    @staticmethod
    def backward(ctx, g, h):
        return g * 2 + h * 3


class Parts(torch.autograd.Function):
    """Two results, one of them not differentiable; the gradient for the other is None where it has none."""

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        sign = x > 0
        ctx.mark_non_differentiable(sign)
        return x.sin(), x + 1, sign

    @staticmethod
    def backward(ctx, g, h, _):
        log.append(("Parts", seen(g), seen(h)))
        return g if h is None else h


def fit(x, shape):
    """A tensor of that shape, in float64, made of the elements of another one."""
    count = 1
    for n in shape:
        count *= n
    flat = torch.cat([x.reshape(-1).double(), torch.linspace(-1, 1, 7, dtype=torch.float64)])
    return flat.repeat(count // flat.numel() + 1)[:count].reshape(shape)


def called(module, *inputs):
    """What a layer gives, and its parameters, whose values do not depend on the generator."""
    module = module.double()
    with torch.no_grad():
        for p in module.parameters():
            p.copy_((torch.arange(p.numel(), dtype=p.dtype) * 0.7 + 0.3).sin().reshape(p.shape) / 2)
    made = module(*inputs)
    return (own(made[0] if isinstance(made, tuple) else made), *module.parameters())


def trained(name, options, x):
    """A parameter after three steps of an optimizer."""
    w = x.detach().double().clone().requires_grad_()
    optimizer = getattr(torch.optim, name)([w], **({"lr": 0.1} | options))

    def closure():
        optimizer.zero_grad()
        loss = ((w - 1) ** 2 * (1 + w * w)).sum()
        loss.backward()
        return loss

    with torch.inference_mode(False), torch.enable_grad():
        for _ in range(3):
            optimizer.step(closure)
    return w.detach().clone()


def distribution(name, fixed, parameters, value, x):
    """A distribution whose parameters depend on x, but for so many of the first ones."""
    factor = 1 + x.double().sum().tanh() / 10
    given = [torch.tensor(p, dtype=torch.float64) for p in parameters]
    made = getattr(torch.distributions, name)(*given[:fixed], *(p * factor for p in given[fixed:]))
    made.example = torch.tensor(value, dtype=torch.float64)
    return made


def total(f):
    return lambda x: f(x).sum()


def ahead(x):
    """A direction for the derivative at x."""
    return torch.linspace(0.5, 1.5, x.numel(), dtype=x.dtype).reshape(x.shape)


def backward_of(f, x):
    y, rule = torch.func.vjp(f, x)
    return rule(torch.ones_like(y))[0]


def written(x):
    y = x.clone()
    y.mul_(x)
    if y.ndim and y.shape[0]:
        y[0] = y[0].sin()
    return y


def root(x):
    """The square root of x * x + 1, by Newton's method with a tolerance."""
    y, aim = x * 0 + 2, x * x + 1
    for _ in range(50):
        step = (y - aim / y) / 2
        y = y - step
        if (step.abs() < 1e-12).all():
            break
    return y


def halved(x):
    while (x.abs() > 1).any():
        x = x / 2
    return x


def counted(x):
    """How many elements are positive, as a number."""
    return 1 + int((x > 0).sum())
