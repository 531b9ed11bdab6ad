"""Draw docs/profile.png, the README's picture of the page: python tests/web/picture.py in a virtual
environment of make web-test."""

import shutil
import sys
import tempfile
from pathlib import Path

import synthetic
from conftest import FLAGS
from playwright.sync_api import sync_playwright

from autograd_cy.profiler._page import render


def draw(target: Path, scheme: str = "light") -> None:
    """A step of training, with the arrow from a product to its backward event."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder, "page.html")
        path.write_text(render(synthetic.model()), encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme=scheme, reduced_motion="reduce")
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready=true]")
        page.focus("#chart")
        for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "g"):
            page.keyboard.press(key)
        page.evaluate("document.activeElement.blur()")
        page.wait_for_timeout(200)
        page.screenshot(path=target)
        browser.close()


if __name__ == "__main__":
    draw(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/profile.png"))
