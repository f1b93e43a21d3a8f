"""The page on which an embedding is turned, as a text and in a real browser."""

import base64
import json
import re

import numpy as np
import pytest

from aninfonce.plots import embedding_page
from tests.browser import open_page

RNG = np.random.default_rng(0)
SPHERE = RNG.normal(size=(800, 5))


def parts(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


def numbers(text):
    return np.frombuffer(base64.b64decode(text), dtype="<f4")


def test_the_page_holds_the_numbers_and_nothing_from_elsewhere():
    page = embedding_page(SPHERE, title="Five columns")
    data = parts(page)
    np.testing.assert_array_equal([numbers(c) for c in data["columns"]], SPHERE.T.astype(np.float32))
    shade = numbers(data["shade"])
    assert shade[0] == 0
    assert shade[-1] == len(data["palettes"]["dark"]) - 1
    assert (np.diff(shade) >= 0).all()
    assert "800 rows." in page
    assert not re.findall(r"https?:|//[a-z]+\.", page.replace("http://www.w3.org", ""))


def test_many_rows_are_thinned_evenly_and_the_page_says_so():
    z = np.stack([np.arange(50_001.0)] * 3, axis=1)
    page = embedding_page(z, color=np.arange(50_001) % 3)
    shown = numbers(parts(page)["columns"][0])
    assert len(shown) == 20_000
    assert (shown[0], shown[-1]) == (0, 50_000)
    assert set(np.diff(shown)) == {2.0, 3.0}
    np.testing.assert_array_equal(numbers(parts(page)["shade"]), shown % 3)
    assert "20 000 of 50 001 rows, evenly taken." in page


def test_names_from_outside_stay_texts():
    page = embedding_page(
        np.eye(3), color=["</script>", "<b>", "&"], label="<i>", title="<script>alert(1)</script>"
    )
    assert page.count("<script") == 2
    assert "<b>" not in page
    assert "<i>" not in page
    assert "&lt;/script&gt;" in page


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"`z` must have shape \(n, d\)"):
        embedding_page(np.ones(3))
    with pytest.raises(ValueError, match="`color` must have one entry for each of the 3 rows"):
        embedding_page(np.eye(3), color=[1.0])
    with pytest.raises(ValueError, match="`title` must be a text, got 3"):
        embedding_page(np.eye(3), title=3)


PICTURE = "document.getElementById('cloud').toDataURL()"
DRAWN = "document.getElementById('view').textContent !== ''"
# Nothing is left to draw, and the size is the present one.
SETTLED = """!waiting && canvas.width === Math.round(canvas.clientWidth * devicePixelRatio)
    && canvas.height === Math.round(canvas.clientHeight * devicePixelRatio)"""


def frame(page):
    """Wait until what was asked for has been drawn."""
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.wait_for_function(SETTLED)
    return page.evaluate(PICTURE)


@pytest.mark.process
def test_in_a_browser(tmp_path):
    """From disk and offline, at three widths and in both schemes; mouse, keys, buttons and menus all work."""
    path = tmp_path / "page.html"
    labels = np.array(["left", "right"])[(SPHERE[:, 0] > 0).astype(int)]
    path.write_text(embedding_page(SPHERE, color=labels, label="side", title="A long title " * 5))
    with open_page(path, tmp_path / "profile", width=390, height=800) as (page, problems):
        page.wait_for_function(DRAWN)
        papers = {}
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            for width in (390, 768, 1400):
                page.set_viewport_size({"width": width, "height": 800})
                frame(page)
                assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), width
                box = page.locator("canvas").bounding_box()
                assert box["x"] >= 0
                assert box["x"] + box["width"] <= width
                assert box["height"] > 250
                # The whole cloud is inside.
                assert page.evaluate("px.every(v => 2 * Math.abs(v) < canvas.clientWidth)")
                assert page.evaluate("py.every(v => 2 * Math.abs(v) < canvas.clientHeight)")
            papers[scheme] = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert papers["light"] != papers["dark"]

        # The part of the cloud in front follows the mouse.
        page.set_viewport_size({"width": 768, "height": 900})
        before = frame(page)
        box = page.locator("canvas").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        nearest = "Array.from(near).indexOf(Math.max(...near))"
        index = page.evaluate(nearest)
        place = page.evaluate(f"px[{index}]")
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 30, y, steps=3)
        page.mouse.up()
        after = frame(page)
        assert after != before
        assert page.evaluate(f"px[{index}]") > place
        page.mouse.move(x - 90, y)
        assert frame(page) == after  # the button is up

        page.locator("#reset").click()
        assert frame(page) == before
        for key in ("ArrowLeft", "ArrowUp", "+", "-"):
            page.locator("canvas").press("0")
            assert frame(page) == before
            page.locator("canvas").press(key)
            assert frame(page) != before, key
        page.locator("canvas").press("0")
        page.mouse.move(x, y)
        page.mouse.wheel(0, -200)
        page.wait_for_function("view.zoom > 1")
        assert frame(page) != before
        page.locator("#reset").click()

        # Labels can be put out, by keys too, and other columns chosen.
        page.locator(".label").first.focus()
        page.keyboard.press("Enter")
        assert page.locator(".label").first.get_attribute("aria-pressed") == "false"
        hidden = frame(page)
        assert hidden != before
        page.locator("select").nth(1).select_option("4")
        assert frame(page) != hidden
        assert problems == []


@pytest.mark.process
def test_fingers_turn_and_zoom(tmp_path):
    path = tmp_path / "page.html"
    path.write_text(embedding_page(SPHERE[:, :3]))
    with open_page(path, tmp_path / "profile", width=390, height=800) as (page, problems):
        page.wait_for_function(DRAWN)
        box = page.locator("canvas").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        session = page.context.new_cdp_session(page)

        def touch(kind, *places):
            points = [{"x": x + dx, "y": y, "id": k} for k, dx in enumerate(places)]
            session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        touch("touchStart", 0)
        touch("touchMove", 40)
        page.wait_for_function("view.turn > start.turn && view.zoom === 1")
        touch("touchEnd")
        turn = page.evaluate("view.turn")
        touch("touchStart", -20, 20)
        touch("touchMove", -60, 60)
        page.wait_for_function("view.zoom > 2")
        touch("touchEnd")
        page.wait_for_function("fingers.size === 0")
        assert page.evaluate("view.turn") == turn
        assert problems == []


@pytest.mark.process
@pytest.mark.parametrize("z", [np.ones((1, 1)), RNG.normal(size=(30, 2))], ids=["a point", "a plane"])
def test_small_embeddings_in_a_browser(z, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(embedding_page(z))
    with open_page(path, tmp_path / "profile", width=390, height=800) as (page, problems):
        page.wait_for_function(DRAWN)
        assert page.evaluate("pen.getImageData(0, 0, canvas.width, canvas.height).data.some(v => v > 0)")
        assert problems == []
