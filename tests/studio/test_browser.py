"""The pages in a real browser: the whole way by mouse and by keyboard alone, undo, reload, accessibility.

Skipped where no Chromium is found (CLUSTRUCT_CHROMIUM names another one). The accessibility check needs
axe-core: CLUSTRUCT_AXE names its axe.min.js, else node_modules of the project is looked at.
"""

import contextlib
import os
import re
import shutil
from pathlib import Path

import pytest

from clustruct.incremental import Store
from clustruct.studio.asking import FEWEST_READ
from clustruct.studio.pages import PAGES
from tests.studio.serving import Client, Forked, write_people

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = (
    os.environ.get("CLUSTRUCT_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
)
AXE = Path(os.environ.get("CLUSTRUCT_AXE") or "node_modules/axe-core/axe.min.js")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium is installed (CLUSTRUCT_CHROMIUM names one)"
)
# A busy machine takes its time.
PATIENCE = 90_000


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@contextlib.contextmanager
def opened(browser, server, project):
    """A page of a server, in which no script may fail."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.faults = []
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.goto(server.url)
    page.project, page.address = project, server.url.split("?")[0]
    yield page
    assert not page.faults
    context.close()


@pytest.fixture
def page(browser, tmp_path):
    """A page of a new folder."""
    write_people(tmp_path / "people.csv", n_people=8)
    server = Forked(tmp_path / "people.csv")
    with opened(browser, server, tmp_path / "people.clustruct.db") as page:
        yield page
    server.kill()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A server with a project that has a first model; its folder."""
    folder = tmp_path_factory.mktemp("made")
    _, fields = write_people(folder / "people.csv", n_people=8)
    write_people(folder / "others.csv", n_people=3)
    server = Forked(folder)
    client = Client(server.url)
    client.begin("people.csv", fields)
    client.learn()
    yield server, folder
    server.kill()


@pytest.fixture
def begun(browser, made):
    """A page of a project that has a first model."""
    server, folder = made
    with opened(browser, server, folder / "people.clustruct.db") as page:
        yield page


def decisions(page):
    with Store(page.project) as store:
        return [d.kind for d in store.decisions()]


def learned(page, model):
    page.wait_for_function(
        "n => document.querySelector('#changed').textContent.startsWith(`Model ${n},`)", arg=model
    )


def test_the_whole_way_by_mouse(page):
    page.wait_for_selector("#setup:not([hidden])")
    page.click("text=Make the project")
    page.wait_for_url("**/learn")
    learned(page, 1)
    page.click("nav >> text=Group")
    page.wait_for_selector("#board .item")
    cards = page.locator("#board .item")
    cards.nth(0).click()
    page.locator("#board button:has-text('Chosen cards here')").click()
    page.wait_for_function("() => !document.querySelector('#undo').disabled")
    assert decisions(page) == ["move"]
    cards.nth(0).drag_to(page.locator("#board .pile").nth(1))
    page.wait_for_function("() => document.querySelector('#state').textContent.includes('2 decisions')")
    page.click("#undo")
    page.wait_for_function("() => !document.querySelector('#redo').disabled")
    assert decisions(page) == ["move", "move", "undo"]
    page.reload()  # in the middle
    page.wait_for_selector("#board .item")
    page.click("nav >> text=Learn")
    page.click("#learn")
    learned(page, 2)
    page.click("nav >> text=Review")
    page.wait_for_selector(".doubt, #doubts p")
    if page.locator(".doubt button:has-text('Merge')").count():
        page.locator(".doubt button:has-text('Keep apart')").first.click()
        page.wait_for_function("() => document.querySelector('#message').textContent.startsWith('Kept')")
    page.click("nav >> text=Learn")
    page.click("#learn")
    learned(page, 3)
    page.click("nav >> text=Export")
    page.click("main button")
    page.wait_for_selector("#commands:not(:empty)")
    names = page.locator("#files a").all_inner_texts()
    assert names == ["people.groups.csv", "people.model", "people.corrections.csv"]
    assert all((page.project.parent / name).stat().st_size > 0 for name in names)


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def go(page, title):
    """To another page by keyboard alone: Esc to the steps, tab to its link, then Enter."""
    press(page, "Escape")
    assert page.evaluate("document.activeElement.matches('nav [aria-current]')")
    for key in ["Tab"] * len(PAGES) + ["Shift+Tab"] * 2 * len(PAGES):
        press(page, key)
        if page.evaluate("document.activeElement.textContent") == title:
            press(page, "Enter")
            page.wait_for_url(re.compile(f"/{title.split()[0].lower()}$"))
            page.wait_for_selector("main:not([inert])")
            return
    raise AssertionError(f"no way to {title}")


def asked(page, start):
    """Wait for a question."""
    page.wait_for_function("t => document.querySelector('#place').textContent.startsWith(t)", arg=start)


def test_the_whole_way_by_keyboard(page):
    page.wait_for_selector("#setup:not([hidden])")
    page.wait_for_function("() => document.activeElement.id === 'id'")
    for _ in range(40):
        press(page, "Tab")
        if page.evaluate("document.activeElement.textContent") == "Make the project":
            break
    press(page, "Enter")
    page.wait_for_url("**/learn")
    learned(page, 1)
    go(page, "Ask me")
    asked(page, "Question 1 of 3")
    size = page.locator("#members .item").count()
    assert size >= FEWEST_READ
    press(page, "n")  # nothing is marked
    page.wait_for_function("() => document.querySelector('#message').textContent.startsWith('Mark what')")
    press(page, "ArrowDown", "Space", "n")
    asked(page, "Question 2 of 3")
    assert decisions(page) == ["split", "confirm"]  # what is not marked is right
    press(page, "Control+z")
    asked(page, "Question 1 of 3")
    assert decisions(page) == ["split", "confirm", "undo", "undo"]  # an answer is taken back whole
    assert page.locator("#members .item").count() == size
    near = page.locator("#near .item").count()
    press(page, "ArrowDown", "Space", "ArrowDown", "Space", "n")  # of two that leave nobody says they are one
    asked(page, "Question 2 of 3")
    assert decisions(page)[4:] == ["split", *["different"] * near]
    go(page, "Group")
    page.wait_for_selector("#board .item")
    press(page, "ArrowDown", "Space", "n")
    told = f"{4 + near} decisions"
    page.wait_for_function("t => document.querySelector('#state').textContent.includes(t)", arg=told)
    assert decisions(page)[-1] == "move"
    go(page, "Learn")
    press(page, "l")
    learned(page, 2)
    go(page, "Review")
    page.wait_for_selector(".doubt, #doubts p")
    before = len(decisions(page))
    if page.locator("#doubts .doubt").count():
        press(page, "ArrowDown", "a")
        page.wait_for_function("() => document.querySelector('#message').textContent === 'Accepted.'")
        assert len(decisions(page)) == before + 1
        assert page.evaluate("document.activeElement.closest('main') !== null")  # not lost with the box
    go(page, "Export")
    for _ in range(30):
        press(page, "Tab")
        if page.evaluate("document.activeElement.type === 'submit'"):
            break
    press(page, "Enter")
    page.wait_for_selector("#commands:not(:empty)")


def test_two_tabs_see_each_other(begun):
    page = begun
    other = page.context.new_page()
    for tab in (page, other):
        tab.goto(page.address + "group")
        tab.wait_for_selector("#board .item")
    page.locator("#board .item").first.click()
    page.keyboard.press("n")
    page.wait_for_function("() => document.querySelector('#state').textContent.includes('1 decision')")
    other.locator("#board .item").nth(1).click()
    other.keyboard.press("n")
    other.wait_for_function("() => document.querySelector('#state').textContent.includes('2 decisions')")
    assert decisions(page) == ["move", "move"]


def test_no_accessibility_violations(begun):
    page = begun
    if not AXE.is_file():
        pytest.skip("axe-core is not there (CLUSTRUCT_AXE)")
    found = {}
    waits = {
        "start": "#files button",
        "group": "#board .item",
        "ask": "#members .item",
        "ask#pair": "#pair td",
        "learn": "#log thead",
        "export": "form",
        "review": ".doubt, #doubts p",
    }
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for name, wait in waits.items():
            if name.startswith("ask"):
                page.route("**/api/questions*", as_pairs if name == "ask#pair" else groups_first)
            page.goto(page.address + name.split("#")[0])
            page.wait_for_selector(wait)
            page.unroute("**/api/questions*")
            if name == "ask":
                press(page, "ArrowDown", "Space")
            if name == "start":
                page.click("text=Begin with others.csv")
                page.wait_for_selector("#setup:not([hidden])")
            found[f"{name}, {scheme}"] = violations(page)
    assert {name: held for name, held in found.items() if held} == {}


def groups_first(route):
    """A question about a group is the first: which kind it is depends on how many answers there are."""
    answer = route.fetch()
    told = answer.json()
    told["questions"].sort(key=lambda q: q["kind"] != "group")
    assert told["questions"][0]["kind"] == "group"
    route.fulfill(response=answer, json=told)


def as_pairs(route):
    """Questions about groups become such about two of their items."""
    answer = route.fetch()
    told = answer.json()
    for q in told["questions"]:
        q.update(kind="pair", items=q["items"][:2], beside=[])
    route.fulfill(response=answer, json=told)


def violations(page):
    page.evaluate(AXE.read_text(encoding="utf-8"))
    told = "r => r.violations.map(v => `${v.id}: ${v.nodes[0].html.slice(0, 120)}`)"
    return page.evaluate(f"() => axe.run().then({told})")
