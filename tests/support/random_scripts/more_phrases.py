"""What lines say of layers, losses, optimizers, transforms, distributions and branches on values: phrases made of the tables.

What they call stands in `prelude.py`. `{F}` maps a tensor to a tensor; it is differentiated at small tensors, `{q}`
and `{u}`, because a Jacobian is large.
"""

from distribution_rows import CASES
from layer_rows import ROWS, Given
from optim_rows import EVERY, MATRICES

COUNTS = {"Binomial": 1}  # parameters that are whole numbers


def layer_phrase(row) -> str:
    """A layer or a loss of the table, on inputs made of the script's tensors; its parameters are the script's tensors, too."""
    inputs = []
    for given, drawn in zip(row.inputs, row.draw(), strict=True):
        shape = given.shape if isinstance(given, Given) else given
        differentiable = drawn.requires_grad and not (isinstance(given, Given) and given.draw.__name__ == "<lambda>")
        inputs.append(f"fit({{f}}, {shape})" if differentiable else f"torch.tensor({drawn.tolist()}{dtype_of(drawn)})")
    arguments = ", ".join([*map(repr, row.args), *(f"{name}={value!r}" for name, value in row.options.items())])
    return f"{{y}}, *{{y2}} = called(torch.nn.{row.name}({arguments}), {', '.join(inputs)})"


def literal(value) -> str:
    """Its repr, in a phrase with slots in braces."""
    return repr(value).replace("{", "{{").replace("}", "}}")


def dtype_of(tensor) -> str:
    return ", dtype=torch.float64" if tensor.is_floating_point() else ""


IN_TABLE = [row for row in ROWS if row.made is None and not row.random]
LAYERS = [layer_phrase(row) for row in IN_TABLE]
SMOOTH_LAYERS = [layer_phrase(row) for row in IN_TABLE if row.smooth]

OPTIMIZERS = [
    *[f'{{y}} = trained("{name}", {literal(options)}, {"fit({f}, (3, 2))" if name in MATRICES else "{f}"})'
      for name, options in EVERY],
    *["{o} = torch.optim.SGD([{l}], lr=0.1, momentum=0.5)", "{o} = torch.optim.Adam([{l}], lr=0.1)"],
    *["{oldo}.step()"] * 6,
    *["{oldo}.zero_grad()"] * 2,
]  # fmt: skip

DISTRIBUTIONS = [
    *[f'{{d}} = distribution("{name}", {COUNTS.get(name, 0)}, {parameters}, {value}, {{f}})'
      for name, (parameters, value) in CASES.items()],
    *["{y} = own({oldd}.log_prob({oldd}.example))"] * 20,
    *["{y} = own({oldd}.entropy())"] * 5,
    *["{y} = own({oldd}.mean)", "{y} = own({oldd}.variance)", "{y} = own({oldd}.stddev)", "{y} = own({oldd}.mode)"] * 2,
]  # fmt: skip

# Functions of one tensor, as a script may hand them to a transform.
SMOOTH_FUNCTIONS = """
lambda x: x.sin() * x
lambda x: x * x.sum()
lambda x: x.tanh().cumsum(0)
lambda x: x.softmax(-1)
lambda x: x.exp().log1p()
lambda x: written(x)
lambda x: torch.nn.functional.silu(x) * 2
lambda x: torch.nn.functional.layer_norm(x, x.shape)
lambda x: torch.nn.functional.mse_loss(x, x.sin())
lambda x: torch.nn.functional.log_softmax(x, 0)
""".strip().splitlines()
BRANCHING = """
lambda x: x * 2 if (x > 0).all() else x.tanh()
lambda x: x.exp() if x.sum() > 0.5 else x * x
lambda x: x.sin() if bool(x.any()) else x
lambda x: x[x > 0].sin()
lambda x: x[x > 0] * x.max()
lambda x: root(x)
lambda x: halved(x).sin()
lambda x: counted(x) * x
lambda x: torch.distributions.Normal(x, x.exp() + 0.1).log_prob(x * 2)
lambda x: torch.distributions.Exponential(x.exp() + 0.1).log_prob(x * x)
""".strip().splitlines()
HIDDEN = """
lambda x: x * x.sum().item()
lambda x: x * float(x.detach().mean())
lambda x: x * x.detach()
lambda x: x * {g}.sum()
lambda x: x.relu() * {f}.sum()
""".strip().splitlines()
FUNCTIONS = SMOOTH_FUNCTIONS + BRANCHING + HIDDEN

SMOOTH_TRANSFORMS = """
{y} = own(torch.func.grad(total({F}))({q}))
{y} = own(torch.func.grad(total({F}))({q}))
{y} = own(torch.func.jvp({F}, ({q},), (ahead({q}),))[1])
{y} = own(torch.func.jvp({F}, ({q},), (ahead({q}),))[1])
{y} = own(backward_of({F}, {q}))
{y} = own(torch.func.jacrev({F})({q}))
{y} = own(torch.func.jacfwd({F})({q}))
{y} = own(torch.func.jacfwd({F})({q}))
{y} = own(torch.func.hessian(total({F}))({q}))
{y} = own(torch.func.hessian(total({F}))({q}))
{y} = own(torch.func.jacfwd(torch.func.jacfwd(total({F})))({q}))
{y} = own(torch.func.jacrev(torch.func.grad(total({F})))({q}))
{y} = own(torch.func.grad(total(torch.func.grad(total({F}))))({q}))
{y} = own(torch.func.vmap({F})({u}))
{y} = own(torch.func.vmap(torch.func.grad(total({F})))({u}))
{y} = own(torch.func.vmap(torch.func.jacfwd({F}))({u}))
{y} = own(torch.func.grad(total(torch.func.vmap({F})))({u}))
""".strip().splitlines()
_HESSIAN = "torch.autograd.functional.hessian"
_FORWARD = 'vectorize=True, outer_jacobian_strategy="forward-mode"'
TRANSFORMS = SMOOTH_TRANSFORMS + """
{y} = own(torch.autograd.functional.jacobian({F}, {q}.detach(), vectorize=True, strategy="forward-mode")).detach()
{y} = own(torch.autograd.functional.jacobian({F}, {q}.detach(), vectorize=True)).detach()
{y} = own(torch.autograd.functional.jacobian({F}, {q}.detach())).detach()
{y} = own(torch.autograd.functional.hessian(total({F}), {q}.detach())).detach()
{y} = own(torch.autograd.functional.jvp({F}, {q}.detach(), ahead({q}))[1]).detach()
{y} = own(torch.autograd.functional.hvp(total({F}), {q}.detach(), ahead({q}))[1]).detach()
""".strip().splitlines() + [f"{{y}} = own({_HESSIAN}(total({{F}}), {{q}}.detach(), {_FORWARD})).detach()"]

BRANCHES = """
{y} = {f} * 2 if ({f} > 0).all() else {f}.sin()
{y} = {f}.exp() if {f}.sum() < 1 else {f} * {f}
{y} = {f}[{f} > 0]
{y} = root({f})
{y} = halved({f})
{y} = counted({f}) * {f}
{w}.mul_(2) if ({w} < 1).all() else {w}.zero_()
""".strip().splitlines()
HIDING_BRANCHES = """
{y} = {f} * {f2}.sum().item()
{y} = {f} * float({f2}.detach().mean())
if bool({f}.any()): {y} = {f}.detach() * {f2}
""".strip().splitlines()
