"""Draw docs/profile.png, the README's picture of the page: python tests/web/picture.py in a virtual
environment of make web-test."""

import shutil
import sys
import tempfile
import threading
from pathlib import Path

from conftest import FLAGS
from playwright.sync_api import sync_playwright

import autograd_cy as torch
from autograd_cy.profiler import profile, record_function

SAMPLES, WIDTH = 256, 256


class Scale(torch.autograd.Function):
    """A Function of Python's, to be seen in the picture."""

    @staticmethod
    def forward(ctx, x):
        return x * 0.5

    @staticmethod
    def backward(ctx, g):
        return g * 0.5


def step(layers, x, labels):
    """A step of training, in regions."""
    with record_function("forward"):
        for k, (weight, bias) in enumerate(layers):
            with record_function(f"layer {k}"):
                x = Scale.apply(torch.tanh(x @ weight + bias))
    with record_function("loss"):
        loss = torch.nn.functional.cross_entropy(x, labels)
    loss.backward()
    with record_function("optimizer"), torch.no_grad():
        for parameter in (p for layer in layers for p in layer):
            parameter -= 0.1 * parameter.grad
            parameter.grad = None


def load(n):
    """What another thread does meanwhile."""
    for k in range(n):
        with record_function(f"batch {k}"):
            torch.stack([torch.randn(SAMPLES) * 0.1 + 1 for _ in range(20)])


def profile_of_two_steps():
    """The profile that the picture shows."""
    torch.set_num_threads(1)
    layers = [(torch.randn(WIDTH, WIDTH).requires_grad_(), torch.zeros(WIDTH).requires_grad_()) for _ in range(4)]
    x, labels = torch.randn(SAMPLES, WIDTH), torch.randint(0, WIDTH, (SAMPLES,))
    step(layers, x, labels)
    thread = threading.Thread(target=load, args=(6,), name="loader")
    with profile(record_shapes=True, profile_memory=True, with_stack=True) as prof:
        thread.start()
        for k in range(2):
            with record_function(f"step {k}"):
                step(layers, x, labels)
        thread.join()
    return prof


def draw(target: Path, scheme: str = "light") -> None:
    """A step of training, with the arrow from a product to its backward event."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder, "page.html")
        profile_of_two_steps().export_html(path)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme=scheme, reduced_motion="reduce")
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready=true]")
        page.focus("#chart")
        for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "g"):
            page.keyboard.press(key)
        page.evaluate("document.activeElement.blur()")
        page.wait_for_timeout(200)
        page.screenshot(path=target)
        browser.close()


if __name__ == "__main__":
    draw(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/profile.png"))
