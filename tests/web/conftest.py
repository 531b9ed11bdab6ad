"""The page in a real browser: Debian's Chromium, driven by Playwright. `make web-test` installs both."""

import os
import shutil
from pathlib import Path

import pytest
import synthetic

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip

# Set by `make web-test`, where a browser that is missing is a failure; other runs leave out what needs one.
WANTED = os.environ.get("AUTOGRAD_CY_WEB", "0") not in ("", "0")


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium with a profile of its own."""
    if not WANTED:
        pytest.skip("needs a browser: make web-test")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=shutil.which("chromium"), headless=True, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """Write a model's page: written(model) -> its address."""
    from autograd_cy.profiler._page import render

    folder: Path = tmp_path_factory.mktemp("pages")

    def write(model: dict) -> str:
        path = folder / f"{len(list(folder.iterdir()))}.html"
        path.write_text(render(model), encoding="utf-8")
        return path.as_uri()

    return write


@pytest.fixture(scope="session")
def small(written):
    return written(synthetic.model())


@pytest.fixture
def visit(browser):
    """visit(address, **options of the context) -> the page when it is ready. What it complains of or asks for is a failure."""
    contexts, complaints, requests = [], [], []

    def open_page(address: str, **options):
        size = {"width": 1280, "height": 800}
        contexts.append(browser.new_context(**{"viewport": size, "reduced_motion": "reduce", **options}))
        page = contexts[-1].new_page()
        page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(address)
        page.wait_for_selector("html[data-ready=true]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
