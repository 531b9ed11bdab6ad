"""A step of training as it should be: nothing is to be said of it."""

import autograd_cy as ag

x = ag.randn(256, 784)
labels = ag.randint(0, 10, (256,))
w1 = (ag.randn(784, 256) / 28).requires_grad_()
b1 = ag.zeros(256, requires_grad=True)
w2 = (ag.randn(256, 10) / 16).requires_grad_()
b2 = ag.zeros(10, requires_grad=True)
parameters = (w1, b1, w2, b2)
momenta = [ag.zeros_like(p) for p in parameters]


def step():
    hidden = (x @ w1 + b1).relu()
    logits = hidden @ w2 + b2
    loss = ag.nn.functional.cross_entropy(logits, labels)
    loss.backward()
    with ag.no_grad():
        for p, m in zip(parameters, momenta, strict=True):
            m.mul_(0.9).add_(p.grad)
            p.sub_(m * 0.01)
            p.grad = None
    return loss.item()
