# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page of `gist-plan report` in a browser: wide and narrow, light and dark.

    PATH=build/dev/bin:$PATH python3 -m pytest test/integration/test_report_browser.py

Skipped where there is no Chromium (Debian's package chromium).
"""

import html
import json
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "test/tools/Inputs"))
import report_page  # noqa: E402

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(not BROWSER, reason="there is no chromium on this machine")

# Asks the page inside the frame how it looks. The page itself has no scripts.
PROBE = """
function box(e) { const b = e.getBoundingClientRect();
  return [b.left, b.top, b.right, b.bottom]; }
function looks() {
  const doc = document.getElementById("page").contentDocument, win = doc.defaultView;
  const style = e => win.getComputedStyle(e), all = s => Array.from(doc.querySelectorAll(s));
  const result = {
    scroll: doc.documentElement.scrollWidth,
    inner: win.innerWidth,
    paper: style(doc.body).backgroundColor,
    ink: style(doc.body).color,
    plots: all("figure.plot").map(f => { const svg = f.querySelector("svg"); return {
      title: svg.getAttribute("aria-label"), box: box(svg),
      texts: Array.from(svg.querySelectorAll("text")).map(t => ({
        kind: t.getAttribute("class") || "", words: t.textContent, box: box(t),
        dash: style(t).strokeDasharray, fill: style(t).fill })),
      keys: Array.from(f.querySelectorAll("figcaption .key")).map(k => style(k).backgroundColor),
      curves: Array.from(svg.querySelectorAll(".curve")).map(c => style(c).stroke) }; }),
    maps: all("figure.map").map(f => ({
      box: box(f), caption: box(f.querySelector("figcaption")),
      swatches: Array.from(f.querySelectorAll(".swatch")).map(s => ({
        kind: s.className, color: style(s).backgroundColor, box: box(s) })),
      cells: Array.from(f.querySelectorAll("td")).map(c => ({
        kind: c.className, words: c.textContent, color: style(c).color,
        paper: style(c).backgroundColor, box: box(c), needs: c.scrollWidth })) })),
  };
  document.title = "done";
  document.getElementById("result").textContent = JSON.stringify(result);
}
"""


def rgb(text):
    """Numbers from 0 to 1: rgb(1, 2, 3) or color(srgb 0.1 0.2 0.3)."""
    numbers = [float(n) for n in re.findall(r"[\d.]+(?:e-?\d+)?", text)]
    assert len(numbers) >= 3, text
    return [n if text.startswith("color") else n / 255 for n in numbers[:3]]


def luminance(text):
    """As WCAG defines it."""
    parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb(text)]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(a, b):
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def meet(a, b):
    return min(a[2], b[2]) - max(a[0], b[0]) > 1 and min(a[3], b[3]) - max(a[1], b[1]) > 1


def browse(folder, page, width, is_dark, *options):
    """A page of one frame, which is as wide as the screen should be: a window of
    the browser has a smallest width."""
    frame = folder / "frame.html"
    frame.write_text(
        f'<!DOCTYPE html><body style="margin:0"><script>{PROBE}</script><pre id=result></pre>'
        f'<iframe id=page style="border:0" width={width} height=3000 onload="looks()" '
        f'srcdoc="{html.escape(page)}"></iframe>')
    return subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
         f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=10000",
         f"--blink-settings=preferredColorScheme={0 if is_dark else 1}",
         f"--window-size={max(width, 500)},3200", *options, frame.as_uri()],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        timeout=300).stdout


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    report_page.make(folder / "evaluation.json")
    subprocess.run(["gist-plan", "report", folder / "evaluation.json", "-o", folder / "page.html"],
                   check=True)
    return (folder / "page.html").read_text()


@pytest.mark.parametrize("width", [1400, 420])
@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
def test_page(page, tmp_path, width, is_dark):
    shown = browse(tmp_path, page, width, is_dark, "--dump-dom")
    found = json.loads(html.unescape(re.search(r'<pre id="result">(.*?)</pre>', shown, re.S)[1]))

    # Nothing is wider than the screen; wide tables scroll by themselves.
    assert found["inner"] == width and found["scroll"] <= width
    # The colours are those of the screen.
    assert (luminance(found["paper"]) < 0.1) == is_dark
    assert contrast(found["paper"], found["ink"]) > 7

    plots = {plot["title"]: plot for plot in found["plots"]}
    for plot in plots.values():
        for text in plot["texts"]:
            left, top, right, bottom = text["box"]
            where = (plot["title"], text["words"], text["box"], plot["box"])
            # Whole, inside its picture, and large enough to read.
            assert left >= plot["box"][0] - 1 and right <= plot["box"][2] + 1, where
            assert top >= plot["box"][1] - 1 and bottom <= plot["box"][3] + 1, where
            is_upright = len(text["words"]) > 3 and bottom - top > right - left
            assert (right - left if is_upright else bottom - top) >= 9, where
        # The legend has the colours of the lines.
        assert plot["keys"][:len(plot["curves"])] == plot["curves"], plot["title"]

    for title, limits in (("Work and perplexity", ["1.05", "1.01"]),
                          ("Work and long-range recall", ["1.25", "1.05"])):
        texts = plots[title]["texts"]
        named = sorted((t for t in texts if t["kind"] == "limit"), key=lambda t: t["box"][1])
        assert [t["words"].rpartition("at most ")[2] for t in named] == limits
        for text in named:
            # Letters, not dashes.
            assert text["dash"] == "none" and contrast(text["fill"], found["paper"]) > 3, text
        points = [t for t in texts if t["kind"] == "point"]
        assert len(points) == 6
        written = named + points
        for i, text in enumerate(written):
            for other in written[i + 1:]:
                assert not meet(text["box"], other["box"]), (title, text, other)

    assert len(found["maps"]) == 2
    for found_map in found["maps"]:
        assert found_map["box"][2] <= width + 1
        assert found_map["caption"][3] - found_map["caption"][1] > 10
        swatches = {s["kind"].split()[1]: s for s in found_map["swatches"]}
        assert set(swatches) == {"dense", "window", "clusters"}
        assert len({s["color"] for s in swatches.values()}) == 3
        assert all(s["box"][2] - s["box"][0] >= 8 for s in swatches.values())
        for cell in found_map["cells"]:
            assert cell["words"] and contrast(cell["color"], cell["paper"]) > 3.5, cell
            assert cell["needs"] <= cell["box"][2] - cell["box"][0] + 2, cell

    # And it can be drawn.
    picture = tmp_path / "picture.png"
    browse(tmp_path, page, width, is_dark, f"--screenshot={picture}")
    assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size > 50000
