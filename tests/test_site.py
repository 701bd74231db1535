"""The built site in a browser: search, light and dark, narrow screens, no request that leaves the machine.

``make docs`` first; without ``out/site`` or Chromium these are skipped. ``make docs-check`` does both.
"""

import os
import re
import shutil
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urldefrag, urljoin, urlparse

import pytest

SITE = Path(__file__).parents[1] / "out/site"
CHROMIUM = (
    os.environ.get("CLUSTRUCT_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
)
pytestmark = pytest.mark.skipif(not (SITE / "index.html").exists(), reason="no site in out/site: make docs")
in_browser = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
# One page of each kind.
SAMPLE = (
    "index.html",
    "start/command.html",
    "guide/index.html",
    "tutorials/records.html",
    "inside.html",
    "figures.html",
    "api/generated/index.html",
    "api/generated/clustruct.estimators.SupervisedCorrelationClustering.html",
    "search.html",
)
PHONE = {"width": 375, "height": 700}


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address():
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=SITE)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def visit(browser, address):
    """Open a page; whatever is asked of another machine, or is not there, is a fault at the end."""
    opened, faults = [], []

    def requested(request):
        if urlparse(request.url).hostname not in (None, "127.0.0.1"):
            faults.append(f"asks {request.url}")

    def visit(name, **options):
        context = browser.new_context(**options)
        opened.append(context)
        page = context.new_page()
        page.on("request", requested)
        page.on("response", lambda r: faults.append(f"{r.status} {r.url}") if r.status >= 400 else None)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(address + name)
        return page

    yield visit
    for context in opened:
        context.close()
    assert faults == []


def brightness(page, selector):
    found = page.evaluate(f"getComputedStyle(document.querySelector('{selector}')).backgroundColor")
    numbers = [float(x) for x in re.findall(r"[\d.]+", found)]
    return sum(numbers[:3]) / 3


@in_browser
@pytest.mark.parametrize("name", SAMPLE)
def test_pages_need_nothing_from_elsewhere_and_fit_narrow_screens(visit, name):
    page = visit(name, viewport=PHONE)
    assert page.locator("h1").first.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"] + 1


@in_browser
@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_pages_follow_light_and_dark(visit, scheme, dark):
    page = visit("start/command.html", color_scheme=scheme)
    assert (brightness(page, "body") < 128) == dark


@in_browser
def test_the_search_finds_a_page(visit, address):
    page = visit("search.html?q=precision")
    page.wait_for_selector("#search-results li a", timeout=20_000)
    links = page.locator("#search-results li a").evaluate_all("all => all.map(a => a.href)")
    assert any("confidence.html" in link for link in links)


@in_browser
def test_the_search_finds_a_name_of_the_api(visit):
    page = visit("search.html?q=SupervisedKMeans")
    page.wait_for_selector("#search-results li a", timeout=20_000)
    links = page.locator("#search-results li a").evaluate_all("all => all.map(a => a.href)")
    assert any("clustruct.estimators.SupervisedKMeans" in link for link in links)


@in_browser
def test_formulas_are_typeset(visit):
    page = visit("inside.html")
    page.evaluate("document.fonts.ready")
    sizes = page.locator("math").evaluate_all("all => all.map(m => m.getBoundingClientRect().height)")
    assert len(sizes) > 5
    assert min(sizes) > 5
    assert page.evaluate("document.fonts.check('16px \"STIX Two Math\"')")


def html(path):
    return path.read_text(encoding="utf-8", errors="replace")


def test_no_page_names_a_script_style_or_picture_elsewhere():
    loads = re.compile(
        r'<(?:script|img|iframe|source)\b[^>]*\bsrc="(https?:)?//|<link\b[^>]*\bhref="(https?:)?//'
    )
    assert [path.name for path in SITE.rglob("*.html") if loads.search(html(path))] == []


def test_links_inside_the_site_lead_to_pages_and_anchors():
    """Sphinx checks references; this checks what came out, downloads and anchors too."""
    anchors, broken = {}, []

    def anchors_of(path):
        if path not in anchors:
            anchors[path] = set(re.findall(r'\bid="([^"]+)"', html(path)))
        return anchors[path]

    for path in SITE.rglob("*.html"):
        here = path.relative_to(SITE).as_posix()
        for link in set(re.findall(r'<a\b[^>]*\bhref="([^"]+)"', html(path))):
            if urlparse(link).scheme:
                continue
            name, anchor = urldefrag(urljoin(here, link.replace("&amp;", "&")))
            target = SITE / (name or here).split("?")[0]
            if not target.exists() or (
                anchor and target.suffix == ".html" and anchor not in anchors_of(target)
            ):
                broken.append(f"{here}: {link}")
    assert broken == []
