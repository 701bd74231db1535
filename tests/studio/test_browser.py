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

from clustruct.groups import Store
from clustruct.studio.asking import CARDS
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
# A busy machine takes its time, and compiles in a new clone what learning needs.
PATIENCE = 240_000


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
    """Wait for a model, or a later one; what the page says instead is the message of the failure."""
    text = "document.querySelector('#changed').textContent"
    number = f"Number(({text}.match(/^Model (\\d+),/) || [])[1])"
    page.wait_for_function(f"n => {number} >= n || document.querySelector('#changed .wrong')", arg=model)
    assert page.evaluate(text).startswith("Model")


def test_the_whole_way_by_mouse(page):
    page.wait_for_selector("#setup:not([hidden])")
    page.click("text=Make the project")
    page.wait_for_url("**/learn")
    learned(page, 1)
    page.click("nav >> text=Group")
    page.wait_for_selector("#board .item")
    cards = page.locator("#board .item")
    cards.nth(0).click()
    page.get_by_label("chosen cards to new group").click()
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
    asked(page, "Question 1")
    proposed = piles(page)
    assert 3 <= sum(map(len, proposed)) <= CARDS
    press(page, "n")  # nothing is chosen
    page.wait_for_function("() => document.querySelector('#message').textContent.startsWith('Choose cards')")
    press(page, "ArrowDown", "Space", "n", "y")
    asked(page, "Question 2")
    assert decisions(page) == ["sort"]
    second = piles(page)
    press(page, "Control+z")
    asked(page, "Question 1")
    assert decisions(page) == ["sort", "undo"]
    assert piles(page) == proposed
    press(page, "Control+y")
    asked(page, "Question 2")
    press(page, "Control+z")
    asked(page, "Question 1")
    assert piles(page) == proposed
    press(page, "Enter")  # nothing has the focus but the title
    asked(page, "Question 2")
    assert piles(page) == second  # asked before, and not answered
    press(page, "y")
    asked(page, "Question 3")
    assert decisions(page)[2:] == ["undo", "undo", "sort", "sort"]
    go(page, "Group")
    page.wait_for_selector("#board .item")
    press(page, "ArrowDown", "Space", "n")
    page.wait_for_function("() => document.querySelector('#state').textContent.includes('4 decisions')")
    assert decisions(page)[-1] == "move"
    go(page, "Learn")
    press(page, "l")
    learned(page, 4)  # the first, two while it asked, and this
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


def piles(page):
    """The cards of each column of a board, by their ids."""
    told = "all => all.map(pile => [...pile.querySelectorAll('.item')].map(card => card.dataset.id))"
    return [held for held in page.locator("#board .pile").evaluate_all(told) if held]


def sorted_piles(page):
    """The piles of the last decision."""
    with Store(page.project) as store:
        return [list(pile) for pile in store.decisions()[-1].piles]


def a_board(page, change=lambda board: None):
    """Go to a board that is asked about, first of its batch, changed as wanted; its piles."""

    def first(route):
        answer = route.fetch()
        told = answer.json()
        told["questions"].sort(key=lambda q: q["kind"] != "sort")
        assert told["questions"][0]["kind"] == "sort"
        change(told["questions"][0])
        route.fulfill(response=answer, json=told)

    page.route("**/api/questions*", first)
    page.goto(page.address + "ask")
    asked(page, "Question 1")
    page.unroute("**/api/questions*")
    return piles(page)


def three_piles(board):
    """Six of the cards, in piles of three, two and one."""
    held = [item for pile in board["piles"] for item in pile][:6]
    board["piles"] = [held[:3], held[3:5], held[5:]]


def card(page, name):
    return page.locator(f'#board [data-id="{name}"]')


def test_a_board_is_decided_as_it_is_shown_and_taken_back_whole(begun):
    page = begun
    proposed = [[a, b, c], [d, e], [f]] = a_board(page, three_piles)
    assert page.inner_text("#question-title") == "Sort these 6 cards"
    assert not page.locator("#no").is_visible()
    before = len(decisions(page))
    press(page, "ArrowDown", "Space", "2")  # the first card into the second column
    assert page.evaluate("document.activeElement.dataset.id") == a
    card(page, b).drag_to(page.get_by_role("group", name="Column 3"))
    card(page, e).click()
    page.get_by_label("chosen cards to new column").click()
    card(page, d).click()
    page.get_by_label("chosen cards to column 1").click()
    page.click("#undo")  # a move, not a decision
    shown = [[c], [a, d], [b, f], [e]]
    assert list(map(sorted, piles(page))) == list(map(sorted, shown))
    assert len(decisions(page)) == before  # nothing is said yet
    page.click("#yes")
    asked(page, "Question 2")
    assert decisions(page)[before:] == ["sort"]
    assert list(map(sorted, sorted_piles(page))) == list(map(sorted, shown))
    press(page, "Control+z")
    asked(page, "Question 1")
    assert piles(page) == proposed
    assert decisions(page)[before:] == ["sort", "undo"]


def test_of_cards_that_one_is_unsure_of_nothing_is_said(begun):
    page = begun
    [[a, b, c], [d, e], [f]] = a_board(page, three_piles)
    before = len(decisions(page))
    card(page, a).click()
    page.click("#dunno")
    card(page, f).drag_to(page.get_by_role("group", name="Unsure"))
    press(page, "y")
    asked(page, "Question 2")
    assert sorted_piles(page) == [[b, c], [d, e]]
    press(page, "Control+z")
    asked(page, "Question 1")
    for name in (a, b, c, d, e):
        card(page, name).click()
    shown = piles(page)
    press(page, "u", "y")  # of one card there is nothing to say
    asked(page, "Question 2")
    assert piles(page) != shown  # it does not come again at once
    kinds = decisions(page)
    assert kinds[before:] == ["sort", "undo"]
    assert page.is_disabled("#undo") == (2 * kinds.count("undo") == len(kinds))


def test_why_explains_two_chosen_cards_or_the_first_two(begun):
    page = begun
    [[a, b, c], [_, e], [f]] = a_board(page, three_piles)
    told = """([a, b]) => [`(${a}) and `, `(${b}):`].every(
        (part) => document.querySelector('#reason').textContent.includes(part))"""
    press(page, "w")
    page.wait_for_function(told, arg=[a, b])
    card(page, c).click()
    press(page, "w")
    page.wait_for_function(told, arg=[c, a])  # one is chosen: with another of its column
    card(page, c).click()
    card(page, e).click()
    card(page, f).click()
    press(page, "w")
    page.wait_for_function(told, arg=[e, f])


def test_chosen_cards_of_a_board_side_by_side(begun):
    page = begun
    [[a, *_], _, [f]] = a_board(page, three_piles)
    press(page, "s")  # nothing is chosen
    page.wait_for_function("() => document.querySelector('#message').textContent.startsWith('Choose two')")
    assert not page.is_visible("#sides")
    card(page, a).click()
    card(page, f).click()
    page.click("#compare")
    assert page.locator("#pair thead th").all_inner_texts()[1:] == [a, f]
    assert page.locator("#pair mark").count()
    press(page, "y")
    asked(page, "Question 2")
    assert page.is_visible("#sides") != page.is_visible("#board")


def test_what_cards_say_is_text(begun):
    page = begun
    evil = "<img src=x onerror='document.body.id=1'><script>document.body.id=2</script>"

    def with_markup(board):
        board["piles"][0][0]["fields"] = {evil: evil, f"b{evil}": evil}

    a_board(page, with_markup)
    assert evil in page.locator("#board .item").first.inner_text()
    press(page, "ArrowDown", "Space", "w")
    page.wait_for_selector("#reason table")
    assert evil in page.inner_text("#reason")
    assert page.evaluate("document.body.id") == ""
    assert page.locator("#main img, #main script").count() == 0


def test_two_tabs_see_each_other(begun):
    page = begun
    other = page.context.new_page()
    other.address, before = page.address, sum(kind != "undo" for kind in decisions(page))
    for tab in (page, other):
        tab.goto(page.address + "group")
        tab.wait_for_selector("#board .item")
    page.locator("#board .item").first.click()
    page.keyboard.press("n")
    said(page, before + 1)
    other.locator("#board .item").nth(1).click()
    other.keyboard.press("n")
    said(other, before + 2)
    for tab in (page, other):
        a_board(tab)
        press(tab, "y")
        asked(tab, "Question 2")
    said(other, before + 4)
    assert decisions(page)[-4:] == ["move", "move", "sort", "sort"]


def said(page, n):
    """Wait until a page says that there are so many decisions."""
    told = f"{n} decision{'s' if n > 1 else ''}"
    page.wait_for_function("t => document.querySelector('#state').textContent.includes(t)", arg=told)


def test_no_accessibility_violations(begun):
    page = begun
    if not AXE.is_file():
        pytest.skip("axe-core is not there (CLUSTRUCT_AXE)")
    found = {}
    waits = {
        "start": "#files button",
        "group": "#board .item",
        "ask": "#board .item",
        "ask#pair": "#pair td",
        "learn": "#log thead",
        "review": ".doubt, #doubts p",
    }
    # A page that is not named here is there when it can be used.
    waits = dict.fromkeys((page.name for page in PAGES), "main:not([inert])") | waits
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for name, wait in waits.items():
            if name == "ask":
                a_board(page)
                press(page, "ArrowDown", "Space", "u", "ArrowUp", "Space")
            else:
                page.route("**/api/questions*", as_pairs)
                page.goto(page.address + name.split("#")[0])
            page.wait_for_selector(wait)
            page.unroute("**/api/questions*")
            if name == "start":
                page.click("text=Begin with others.csv")
                page.wait_for_selector("#setup:not([hidden])")
            found[f"{name}, {scheme}"] = violations(page)
    assert {name: held for name, held in found.items() if held} == {}


def as_pairs(route):
    """A board becomes a question about two of its items."""
    answer = route.fetch()
    told = answer.json()
    for q in told["questions"]:
        items = [*q["items"], *(item for pile in q["piles"] for item in pile)]
        q.update(kind="pair", items=items[:2], piles=[])
    route.fulfill(response=answer, json=told)


def violations(page):
    page.evaluate(AXE.read_text(encoding="utf-8"))
    told = "r => r.violations.map(v => `${v.id}: ${v.nodes[0].html.slice(0, 120)}`)"
    return page.evaluate(f"() => axe.run().then({told})")
