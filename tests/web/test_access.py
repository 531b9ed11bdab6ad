"""The page for everybody: names and landmarks, contrast in light and dark, zoom, narrow windows, no motion."""

from pathlib import Path

import pytest

VIEWS = ("timeline", "operations", "lines", "memory", "graph", "hints")

CONTRAST = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8").partition("\n")[2]

UNNAMED = """() => [...document.querySelectorAll("button, input, [tabindex='0'], [role=region], [role=group], aside, section")]
    .filter(e => !e.ariaLabel && !e.hasAttribute("aria-labelledby") && !e.textContent.trim() && !e.labels?.length)
    .map(e => e.outerHTML.slice(0, 80))"""


def open_views(page):
    for view in VIEWS:
        page.click(f"#tab-{view}")
        yield view


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_of_all_texts(visit, small, scheme):
    page = visit(small, color_scheme=scheme)
    for view in open_views(page):
        if view == "timeline":
            page.focus("#chart")
            page.keyboard.press("ArrowDown")
        found = page.evaluate(CONTRAST)
        assert found["text"][0] >= 4.5, f"{view}: {found['text']}"
    assert min(found["labels"].values()) >= 4.5, found["labels"]


def test_the_switch_of_colours_is_remembered(visit, small):
    page = visit(small, color_scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_label("Dark").check(force=True)
    dark = page.evaluate(ground)
    assert light != dark

    def colour_after_reload():
        page.reload()
        page.wait_for_selector("html[data-ready=true]")
        return page.evaluate(ground)

    assert dark in (colour_after_reload() for _ in range(3))  # a busy browser stores the choice a moment later
    assert page.get_by_label("Dark").is_checked()
    page.get_by_label("Auto").check(force=True)
    assert page.evaluate(ground) == light
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(ground) == dark


def test_dark_mode_reaches_the_canvas(visit, small):
    corner = """() => [...document.getElementById("canvas").getContext("2d").getImageData(4, 4, 1, 1).data]"""
    assert min(visit(small, color_scheme="light").evaluate(corner)[:3]) > 200
    page = visit(small, color_scheme="light")
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(100)
    assert max(page.evaluate(corner)[:3]) < 60


def test_landmarks_headings_and_names(visit, small):
    page = visit(small)
    for role in ("banner", "main", "contentinfo", "search", "tablist", "complementary"):
        assert page.get_by_role(role).count() == 1, role
    assert page.locator("h1").count() == 1 and page.get_attribute("html", "lang") == "en"
    for view in open_views(page):
        assert page.evaluate(UNNAMED) == [], view
        assert page.locator(f"#{view} h2").count() == 1
    ids = page.locator("[id]").evaluate_all("elements => elements.map(e => e.id)")
    assert len(ids) == len(set(ids))


def test_what_a_screen_reader_is_told(visit, small):
    page = visit(small)
    tree = page.locator("body").aria_snapshot()
    for part in (
        '- link "Skip to the profile"',
        '- heading "train.py, two steps" [level=1]',
        '- searchbox "Search operations, shapes and file:line"',
        '- tab "Timeline" [selected]',
        '- tabpanel "Timeline"',
        '- application "Events over time"',
        '- complementary "Selected event"',
        '- group "Zoom"',
    ):
        assert part in tree, tree
    described = page.get_attribute("#chart", "aria-describedby")
    assert "Arrow keys" in page.inner_text(f"#{described}")


def test_the_first_tab_stop_skips_to_the_profile(visit, small):
    page = visit(small)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the profile"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_focus_is_seen_on_every_stop(visit, small):
    page = visit(small)
    seen = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        key, outline = page.evaluate("""() => {
            const e = document.activeElement;
            const shown = e.type === "radio" ? e.nextElementSibling : e;
            const style = getComputedStyle(shown);
            const width = style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth);
            return [e === document.body ? "BODY" : e.id || e.textContent.trim() || e.tagName, width];
        }""")
        if key == "BODY":
            break
        assert outline >= 1, key
        seen.add(key)
    assert {"search", "tab-timeline", "zoom-in", "chart"} <= seen


@pytest.mark.parametrize("width", [400, 640])  # 640 of 1280: a zoom of 200 %
def test_narrow_windows_never_scroll_sideways(visit, small, width):
    page = visit(small, viewport={"width": width, "height": 700})
    for view in open_views(page):
        assert page.evaluate("document.documentElement.scrollWidth") <= width, view
    page.click("#tab-timeline")
    box = page.locator("#chart").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= width


def test_who_wants_no_motion_gets_none(visit, small):
    """A jump takes a fifth of a second, and with reduced motion none at all."""
    span = """async () => {
        const chart = document.getElementById("chart");
        const frame = () => new Promise(requestAnimationFrame);
        const key = name => chart.dispatchEvent(new KeyboardEvent("keydown", { key: name }));
        key("ArrowDown"); key("ArrowDown"); await frame(); await frame();
        key("f");
        const found = new Set();
        for (let k = 0; k < 30; k += 1) { await frame(); found.add(chart.dataset.to); }
        return found.size;
    }"""
    assert visit(small, reduced_motion="reduce").evaluate(span) <= 2
    assert visit(small, reduced_motion="no-preference").evaluate(span) > 2
