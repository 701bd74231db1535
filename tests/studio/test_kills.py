"""A server that is killed between decisions: nothing is lost, nothing is doubled. Two pages at once."""

import pytest

from clustruct.groups import Store
from tests.studio.serving import Client, Forked, write_people

KILLS = 20


@pytest.fixture
def folder(tmp_path):
    _, fields = write_people(tmp_path / "people.csv", n_people=5)
    return tmp_path, fields


def test_killed_twenty_times_between_decisions(folder):
    path, fields = folder
    data, wanted = path / "people.csv", []
    process = Forked(data)
    client = Client(process.url)
    client.begin("people.csv", fields)
    for n in range(KILLS):
        sent = {"kind": "move", "items": [f"p{n % 9}"], "into": None, "key": f"once{n:08d}"}
        number = client.post("/api/decide", sent)["number"]
        wanted.append((number, "move", (f"p{n % 9}",)))
        if n % 3 == 0:
            wanted.append((client.undo()["number"], "undo", ()))
        process.kill()
        process = Forked(data)
        client = Client(process.url)
        # The page did not hear of it, and sends it again.
        again = client.post("/api/decide", sent)["number"] if n % 3 else number
        assert again == number
    process.kill()
    with Store(path / "people.clustruct.db") as store:
        assert [(d.number, d.kind, d.items) for d in store.decisions()] == wanted
        store.verify()


def test_a_sort_is_kept_once_listed_and_taken_back(folder):
    path, fields = folder
    process = Forked(path / "people.csv")
    client = Client(process.url)
    client.begin("people.csv", fields)
    sent = {"kind": "sort", "piles": [["p0", "p1"], ["p2"]], "key": "sorted00"}
    number = client.post("/api/decide", sent)["number"]
    process.kill()
    process = Forked(path / "people.csv")
    try:
        client = Client(process.url)
        assert client.post("/api/decide", sent)["number"] == number
        (listed,) = client.get("/api/log")["decisions"]
        assert (listed["kind"], listed["piles"]) == ("sort", [["p0", "p1"], ["p2"]])
        assert client.undo()["redo"] is not None
    finally:
        process.kill()
    with Store(path / "people.clustruct.db") as store:
        assert [(d.kind, d.piles) for d in store.decisions()] == [
            ("sort", (("p0", "p1"), ("p2",))),
            ("undo", ()),
        ]
        assert store.state().judgements() == []
        store.verify()


def test_two_pages_decide_one_after_the_other(folder):
    path, fields = folder
    process = Forked(path)
    try:
        first, second = Client(process.url), Client(process.url)
        first.begin("people.csv", fields)
        group = first.decide("move", items=["p0", "p1"])["into"]
        assert second.get(f"/api/group?id={group}")["size"] == 2
        other = second.decide("move", items=["p2"], into=group)
        assert other["decisions"] == 2
        assert first.undo()["undo"] is not None  # what the other page did last
        assert second.get(f"/api/group?id={group}")["size"] == 2
        assert second.redo()["redo"] is None
        assert first.get(f"/api/group?id={group}")["size"] == 3
        status, _, body = first.request("POST", "/api/redo", {"key": "nothingleft"})
        assert (status, b"nothing to redo" in body) == (409, True)
    finally:
        process.close()


def test_the_command_line_reads_and_writes_while_the_page_is_open(folder):
    path, fields = folder
    process = Forked(path)
    try:
        client = Client(process.url)
        client.begin("people.csv", fields)
        with Store(path / "people.clustruct.db") as store:
            from clustruct.groups import Decision

            store.decide(Decision("same", ("p0", "p1")))
        assert client.get("/api/status")["decisions"] == 1
    finally:
        process.close()
    with Store(path / "people.clustruct.db") as store:  # what the killed server left is put in order
        assert len(store.decisions()) == 1
        store.verify()
    assert sorted(p.name for p in path.iterdir()) == ["people.clustruct.db", "people.csv"]
