"""The system's Chromium, headless and without network, for pages opened from disk."""

import shutil
from contextlib import contextmanager

import pytest

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def open_page(path, profile, width=1100, height=900):
    """Open a file; yields the page and a list that collects whatever goes wrong in it."""
    executable = shutil.which("chromium")
    if executable is None:
        pytest.skip("no Chromium on this machine (Debian: apt-get install chromium)")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        context = driver.chromium.launch_persistent_context(
            str(profile),
            executable_path=executable,
            args=FLAGS,
            offline=True,
            viewport={"width": width, "height": height},
            timeout=0,  # a busy machine may take its time, here and below
        )
        context.set_default_timeout(0)
        try:
            page = context.new_page()
            problems = []
            page.on("console", lambda message: problems.append(message.text))
            page.on("pageerror", lambda error: problems.append(str(error)))
            page.on(
                "request",
                lambda request: (
                    None if request.url.startswith(("file:", "data:")) else problems.append(request.url)
                ),
            )
            page.goto(path.resolve().as_uri())
            yield page, problems
        finally:
            context.close()


SCHEMES, WIDTHS = ("light", "dark"), (390, 768, 1400)
# Of all texts in drawings: contrast to the paper, which is behind them; and what they say.
TEXTS = """() => {
  const light = colour => {
    const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255)
      .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const paper = light(getComputedStyle(document.body).backgroundColor);
  return [...document.querySelectorAll('figure svg text')].map(text => {
    const ends = [light(getComputedStyle(text).fill), paper].sort();
    return [text.textContent, (ends[1] + .05) / (ends[0] + .05)];
  });
}"""


def check_layouts(page):
    """Try three widths in both schemes: nothing is wider than the window, drawings can be read."""
    papers = set()
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        papers.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), width
            # A drawing may be wider than its figure, which then scrolls: its text would be too small to read.
            assert page.eval_on_selector_all("figure svg", "all => all.every(s => s.clientWidth > 100)")
            ends = "all => all.map(f => f.getBoundingClientRect().right)"
            assert max(page.eval_on_selector_all("figure", ends)) <= width
        for text, contrast in page.evaluate(TEXTS):
            assert contrast > 3, (scheme, text)
            assert "×10" not in text  # plain numbers, no powers of ten
    assert len(papers) == len(SCHEMES)
