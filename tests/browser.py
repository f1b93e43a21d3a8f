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
