"""What the lines of a script say: phrases by kind, with slots in braces that `writer.py` fills.

A slot names what stands there. A tensor of some kind: `a` any, `v` with elements in a first dimension, `m` a matrix,
`f` floating, `z` complex, `p` pairs, `g` one that requires grad, `l` a leaf that does, `x` rather a leaf, `w` one that may be
written. What fits to the first tensor of the line: `b` an operand, `c` one that can be written to it, `e` one that can be
written to its first element. `F` is a function of a tensor; `q` a small floating one, `u` one with elements in a first
dimension. Of objects: `h` a new handle and `old` one that is there, `o` and `oldo` optimizers, `d` and `oldd` distributions. A
digit keeps two of a kind apart; `{y}` is a new name.
"""

from random_scripts.more_phrases import BRANCHES, DISTRIBUTIONS, HIDING_BRANCHES, LAYERS, OPTIMIZERS, TRANSFORMS

OPERATIONS = """
{y} = {a}.sin()
{y} = {a}.tanh()
{y} = {a}.sigmoid()
{y} = {f}.exp()
{y} = -{a}
{y} = {a}.abs()
{y} = {f}.square()
{y} = {f}.relu()
{y} = {f}.sqrt()
{y} = {f}.abs().sqrt()
{y} = {f}.reciprocal()
{y} = {f}.sgn()
{y} = {a}.clone()
{y} = {a}.contiguous()
{y} = {a} + {b}
{y} = {a} * {b}
{y} = {a} - {b}
{y} = {a} / {b}
{y} = {number} * {a}
{y} = {number} - {a}
{y} = {number} / {a}
{y} = torch.add({a}, {b}, alpha={number})
{y} = torch.sub({a}, {b}, alpha={number})
{y} = {f} ** {integer}
{y} = {f}.abs() ** {f2}
{y} = {f}.abs() ** {number}
{y} = {number} ** {f}
{y} = torch.maximum({f}, {f2})
{y} = torch.minimum({f}, {f2})
{y} = torch.where({a} > 0, {a}, {b})
{y} = torch.where({a} == {b}, {number}, {a})
{y} = {a}.clamp({number}, {number2})
{y} = {f}.clamp(min={b})
{y} = {a} @ {a2}
{y} = {m}.mm({m2})
{y} = {a} > {b}
{y} = {a}.to({dtype})
{y} = {a}.float()
{y} = {a}.double()
{y} = {a}.half()
{y} = {a}.type_as({a2})
{y} = torch.cat([{v}, {v2}])
{y} = torch.stack([{a}, {a}])
{y} = torch.stack([{a}, {a2}], {dim})
{y} = {v}.flip(0)
{y} = {v}[[0, -1]]
{y} = {v}[torch.tensor([0, 0])]
{y} = {a}[{a} > 0]
{y} = {a}.masked_fill({a} > {number}, {number2})
{y} = {v}.index_select(0, torch.tensor([0, 0]))
{y} = {v}.index_add(0, torch.tensor([0]), {v}[:1])
{y} = {v}.gather(0, torch.zeros_like({v}, dtype=torch.int64))
{y} = {f}.cumsum({dim})
{y} = {f}.softmax({dim})
{y} = {f}.log_softmax({dim})
{y} = torch.nn.functional.gelu({f})
{y} = torch.nn.functional.silu({f})
{y} = torch.nn.functional.mse_loss({f}, {f2})
{y} = torch.zeros_like({a})
{y} = torch.ones_like({a}, dtype={dtype})
{y} = torch.tensor({f}.tolist(), dtype={dtype})
""".strip().splitlines()

REDUCTIONS = """
{y} = {a}.sum()
{y} = {a}.sum({dim})
{y} = {a}.sum({dim}, keepdim=True)
{y} = {f}.sum(dtype={dtype})
{y} = {f}.mean()
{y} = {f}.mean({dim})
{y} = {f}.prod()
{y} = {f}.max()
{y} = {f}.amax({dim})
{y} = {v}.max(0).values
{y} = {f}.norm()
{y} = {f}.norm(dim={dim})
{y} = {f}.var({dim}, correction=0)
{y} = {f}.std({dim}, correction=0)
{y} = {f}.logsumexp({dim})
""".strip().splitlines()

VIEWS = """
{y} = {v}[0]
{y} = {v}[-1]
{y} = {v}[1:]
{y} = {v}[:1]
{y} = {v}[::2]
{y} = {a}[...]
{y} = {a}[None]
{y} = {v}[..., 0]
{y} = {v}[..., :1]
{y} = {a}.t()
{y} = {a}.T
{y} = {a}.transpose({dim}, {dim2})
{y} = {m}.permute(1, 0)
{y} = {a}.view({shape})
{y} = {a}.view(-1)
{y} = {a}.reshape({shape})
{y} = {a}.flatten()
{y} = {a}.view_as({a})
{y} = {a}.unsqueeze({dim})
{y} = {a}.squeeze()
{y} = {a}.squeeze({dim})
{y} = {a}.expand(2, *{a}.shape)
{y} = {a}.expand_as({b})
{y} = {m}.diagonal()
{y} = {a}.detach()
{y} = {a}.data
{y} = {z}.real
{y} = {z}.imag
{y} = torch.view_as_real({z})
{y} = torch.view_as_complex({p})
{y} = {a}.to({a}.dtype)
{y} = torch.from_numpy({a}.detach().numpy())
""".strip().splitlines()

PARTS = """
{y}, {y2} = {v}.split([1, {v}.shape[0] - 1])
{y}, *{y2} = {v}.split(1)
{y}, *{y2} = {v}.unbind()
{y}, *{y2} = {v}.unbind(-1)
{y}, *{y2} = {v}.split(1, -1)
{y}, *{y2} = {v}
{y}, {y2} = Same.apply({a})
{y} = {v}.split(2)[0]
{y} = {v}.unbind()[-1]
{y}, {y2}, {y3} = Parts.apply({f})
{y}, {y2} = {v}.max(0)
""".strip().splitlines()

WRITES = """
{w}.add_({c})
{w}.sub_({c})
{w}.mul_({c})
{w}.div_({c})
{wf}.pow_({c})
{w}.add_({c}, alpha={number})
{w}.copy_({c})
{w}.fill_({number})
{w}.zero_()
{w}.sin_()
{w}.tanh_()
{w}.neg_()
{w}.sigmoid_()
{w}.relu_()
{w}.square_()
{w}.clamp_({number}, {number2})
{w}.clamp_(min={c})
{w} += {c}
{w} -= {c}
{w} *= {c}
{w} /= {c}
{w} **= {integer}
{wv}[0] = {e}
{wv}[1:] = {e}
{wv}[...] = {c}
{wv}[..., 0] = {number}
{wv}[[0, -1]] = {e}
{wv}[[0]] = {e}
{wv}[0] += {e}
{wv}[1:] *= {e}
{wv}[:1] -= {e}
{wv}[0] /= {e}
{wv}[0] **= {integer}
{w}[{w} > {number}] = {number2}
{w}[{w} > {number}] *= {number2}
{w}.masked_fill_({w} > {number}, {number2})
{wv}.index_add_(0, torch.tensor([0]), {wv}[:1].clone())
{wv}.index_put_((torch.tensor([0]),), {seed}[:1])
{wv}.scatter_(0, torch.zeros_like({wv}, dtype=torch.int64), {number})
{wv}.copy_({wv}.flip(0))
{wv}[0].mul_({e})
{wv}[..., 0].add_({number})
{w}.view(-1).mul_({number})
{w}.t().mul_({number})
{w}.data.mul_({number})
{w}.detach().mul_({c})
{w}.data = {like}
{w}.detach().zero_()
InPlace.apply({w})
{y} = InPlace.apply({w})
torch.mul({a}, {b}, out={w})
torch.sin({a}, out={w})
{w}.contiguous().resize_({sizes})
""".strip().splitlines()

FLAGS = """
{f}.requires_grad_()
{a}.requires_grad_()
{a}.requires_grad_(False)
{a}.requires_grad = {bool}
torch.set_grad_enabled({bool})
{a}.detach_()
fresh({g}).retain_grad()
fresh({g}).retain_grad()
fresh({a}).retain_grad()
{l}.grad = None
{l}.grad = torch.ones_like({l})
{l}.grad.zero_()
{l}.grad.mul_({number})
{l}.grad += {l}.grad
{y} = {l}.grad
{y} = own({g}.grad)
{y} = {l}.grad * {number}
{a}.grad = {b}.detach().clone()
{a}.grad = {seed}
{a}.grad = {number}
""".strip().splitlines()

HOOKS = """
{h} = fresh({g}).register_hook(see("{h}"))
{h} = fresh({g}).register_hook(see("{h}"))
{h} = fresh({g}).register_hook(scale("{h}", {number}))
{h} = fresh({g}).register_hook(fail("{h}"))
{h} = fresh({g}).register_hook(lambda g: None if g is None else g.double())
{h} = fresh({g}).register_hook(lambda g: None if g is None else g[None])
{h} = {g}.grad_fn.register_hook(see("{h}"))
{h} = {g}.grad_fn.register_hook(scale_each("{h}", {number}))
{h} = {g}.grad_fn.register_prehook(see("{h}"))
{h} = {g}.grad_fn.register_prehook(scale_each("{h}", {number}))
{h} = {g}.grad_fn.next_functions[0][0].register_hook(see("{h}"))
{h} = {g}.grad_fn.next_functions[0][0].register_prehook(see("{h}"))
{h} = fresh({l}).register_post_accumulate_grad_hook(see("{h}"))
{h} = fresh({l}).register_post_accumulate_grad_hook(lambda x: setattr(x, "grad", None))
{h} = torch.autograd.graph.register_multi_grad_hook((fresh({g}), fresh({g2})), see("{h}"))
{h} = torch.autograd.graph.register_multi_grad_hook((fresh({g}), fresh({g2})), see("{h}"), mode="any")
{h} = fresh({g}).register_hook(lambda g: {l}.square().sum().backward())
fresh({a}).register_hook(see("none"))
fresh({a}).register_post_accumulate_grad_hook(see("none"))
{old}.remove()
""".strip().splitlines()

BACKWARD = """
{g}.sum().backward()
{g}.sum().backward(retain_graph=True)
{g}.sum().backward(retain_graph=True)
{g}.square().sum().backward(create_graph=True)
{g}.sum().backward(create_graph=True)
{g}.backward()
{g}.backward(torch.ones_like({g}))
{g}.backward(torch.ones_like({g}), retain_graph=True)
{g}.backward({seed}, retain_graph=True)
{g}.sum().backward(inputs={x})
{g}.sum().backward(inputs=[{x}, {x2}], retain_graph=True)
torch.autograd.backward([{g}, {g2}], [torch.ones_like({g}), torch.ones_like({g2})], retain_graph={bool})
{y} = own(torch.autograd.grad({g}.sum(), {x})[0])
{y} = own(torch.autograd.grad({g}.sum(), {x}, retain_graph=True)[0])
{y} = own(torch.autograd.grad({g}.sum(), {x}, create_graph=True)[0])
{y} = own(torch.autograd.grad({g}.square().sum(), {x}, create_graph=True)[0])
{y} = own(torch.autograd.grad({g}.sin().sum(), {l}, create_graph=True, allow_unused=True)[0])
{y}, {y2} = map(own, torch.autograd.grad({g}.sum(), [{x}, {x2}], create_graph={bool}, allow_unused=True))
{y}, {y2} = map(own, torch.autograd.grad([{g}, {g2}], [{l}, {x}], like([{g}, {g2}]), retain_graph=True, allow_unused=True))
{y} = own(torch.autograd.grad({g}.sum(), {l}, create_graph={bool}, materialize_grads=True)[0])
{y} = own(torch.autograd.grad({g}, {x}, torch.ones_like({g}, requires_grad=True), create_graph=True)[0])
{y} = own(torch.autograd.grad({g}.square().sum(), {g}, create_graph=True)[0])
{y} = own(torch.autograd.grad({g}.sum(), torch.autograd.graph.get_gradient_edge({x}), retain_graph=True)[0])
""".strip().splitlines()

FORWARD = """
{y} = fw.make_dual({open}{f}, torch.ones_like({f}))
{y} = fw.make_dual({open}{f}, torch.ones_like({f}))
{y} = fw.make_dual({open}{f}, {like}.clone())
{y} = fw.make_dual({open}{f}, {seed})
{y}, {y2} = fw.unpack_dual({open}{f})
{y} = Product.apply({f}, {f2})
{y} = Twice.apply({g})
{y} = torch.utils.checkpoint.checkpoint(lambda x: (x.sin() * x).tanh(), {f}, use_reentrant=False)
{y} = torch.utils.checkpoint.checkpoint(lambda x, y: x * y.exp(), {f}, {f2}, use_reentrant=False)
{y} = fw.unpack_dual({open}{a}).tangent
""".strip().splitlines()

# The end of each script: the gradient of what it made.
LAST = """
{g}.backward(torch.ones_like({g}), retain_graph=True)
{g}.backward(torch.ones_like({g}), retain_graph=True)
{g}.square().sum().backward(create_graph=True)
""".strip().splitlines()

# What a line may stand in.
MODES = """
with torch.no_grad(): {line}
with torch.no_grad(): {line}
with torch.no_grad(): {line}
with torch.enable_grad(): {line}
with torch.set_grad_enabled(False): {line}
with torch.inference_mode(): {closed}{line}
with torch.inference_mode(False): {line}
with torch.autograd.graph.saved_tensors_hooks(pack, unpack): {line}
with torch.autograd.graph.save_on_cpu(): {line}
with torch.autograd.graph.disable_saved_tensors_hooks("no hooks"): {line}
""".strip().splitlines()

# The kinds, and how often each comes.
KINDS = [
    (OPERATIONS, 24), (REDUCTIONS, 4), (VIEWS, 16), (PARTS, 4), (WRITES, 22), (FLAGS, 6), (HOOKS, 6), (BACKWARD, 12),
    (FORWARD, 3), (LAYERS, 3), (OPTIMIZERS, 2), (DISTRIBUTIONS, 3), (TRANSFORMS, 4), (BRANCHES + HIDING_BRANCHES, 4),
]  # fmt: skip
