"""Attacks on a real server: each is refused, changes nothing, and is a line in the log."""

import json
import re
import socket

import pytest

from clustruct.studio.folder import Folder
from clustruct.studio.pages import PAGES
from clustruct.studio.security import Policy
from tests.studio.serving import Client, Process, write_people

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attacked") / "folder"
    folder.mkdir()
    write_people(folder / "people.csv", n_people=4)
    (folder.parent / "secret.csv").write_text("nr,name\n1,secret\n")
    (folder / "link.csv").symlink_to(folder.parent / "secret.csv")
    process = Process(folder, "--max-upload", "1")
    process.folder = folder
    client = Client(process.url)
    client.begin("people.csv", fields_of(client))
    yield process, client
    process.close()


def fields_of(client):
    held = client.get("/api/preview?file=people.csv")
    return held["guess"]["fields"]


POST = {"kind": "note", "note": "forged", "items": [], "key": "forgedforged"}
REFUSED = {
    "forged Host": (421, {"Host": "evil.example"}),
    "a name that leads here": (421, {"Host": "evil.example:{port}"}),
    "no Host": (None, {"Host": None}),
    "forged Origin": (403, {"Origin": "http://evil.example"}),
    "Origin null": (403, {"Origin": "null"}),
    "no Origin": (403, {"Origin": None}),
    "Origin of another port": (403, {"Origin": "http://127.0.0.1:1"}),
    "no token": (403, {"Cookie": None}),
    "a wrong token": (403, {"Cookie": "clustruct_{port}=guess"}),
    "a broken cookie": (403, {"Cookie": "\x01=;;;="}),
    "another site asks": (403, {"Sec_Fetch_Site": "cross-site"}),
    "a form": (415, {"Content_Type": "application/x-www-form-urlencoded"}),
    "a form with files": (415, {"Content_Type": "multipart/form-data; boundary=x"}),
    "plain text, which needs no leave": (415, {"Content_Type": "text/plain"}),
    "too long": (413, {"Content_Length": str(100 * 2**20)}),
    "no length": (411, {"Content_Length": "many"}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_forged_writes_are_refused(studio, name):
    process, client = studio
    wanted, headers = REFUSED[name]
    before = client.get("/api/status")["at"]
    told = {n: v if v is None else v.format(port=client.port) for n, v in headers.items()}
    lines = len(process.log)
    status, _, body = client.request("POST", "/api/decide", POST, **told)
    assert status == wanted or (wanted is None and status in (400, 421)) or status == 400
    assert status >= 400
    assert b"token" not in body or client.token.encode() not in body
    assert client.get("/api/status")["at"] == before
    if status not in (400,):  # what is no HTTP at all does not come so far
        assert process.heard("refused: POST /api/decide", since=lines)


@pytest.mark.parametrize(
    "path", ["/", "/review", "/api/status", "/api/items", "/static/common.js", "/files/x"]
)
def test_nothing_is_read_without_the_token(studio, path):
    _, client = studio
    status, headers, body = client.request("GET", path, Cookie=None)
    assert (status, b"clustruct studio" in body) == (403, True)
    assert "set-cookie" not in headers


def test_the_token_gives_a_cookie_that_only_this_site_gets(studio):
    _, client = studio
    status, headers, _ = client.request("GET", f"/?token={client.token}", Cookie=None)
    assert status == 303
    assert headers["location"] == "/"
    assert all(word in headers["set-cookie"] for word in ("HttpOnly", "SameSite=Strict", "Path=/"))
    assert client.request("GET", f"/?token={client.token}x", Cookie=None)[0] == 403


def test_pages_may_run_and_load_nothing_from_elsewhere(studio):
    _, client = studio
    for page in ("/", *(f"/{page.name}" for page in PAGES)):
        status, headers, body = client.request("GET", page)
        policy = headers["content-security-policy"]
        assert status == 200
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert b"style=" not in body
        assert b"onclick" not in body
        assert b"http://" not in body
        assert headers["x-content-type-options"] == "nosniff"
        for name in re.findall(rb'(?:href|src)="(/static/[^"]+)"', body):
            assert client.request("GET", name.decode())[0] == 200, name


@pytest.mark.parametrize("sent", [b"{", b"[]", b"\xff\xfe", b"nul", b"[" * 100_000, b'"text"'])
def test_malformed_json_is_refused(studio, sent):
    process, client = studio
    status, _, body = client.request("POST", "/api/decide", sent)
    assert status == 400
    assert "not a JSON object" in json.loads(body)["error"]
    assert process.heard("not a JSON object")


@pytest.mark.parametrize(
    "sent",
    [
        {"kind": "drop"},
        {"kind": "same", "items": ["p0"]},
        {"kind": "same", "items": "p0"},
        {"kind": "same", "items": [1, 2]},
        {"kind": "same", "items": ["p0", "nobody"]},
        {"kind": "sort"},
        {"kind": "sort", "items": ["p0", "p1"]},
        {"kind": "sort", "piles": "p0"},
        {"kind": "sort", "piles": ["p0", "p1"]},
        {"kind": "sort", "piles": [["p0"], [1]]},
        {"kind": "sort", "piles": [["p0"], {"p1": 1}]},
        {"kind": "sort", "piles": [["p0", "p1"], []]},
        {"kind": "sort", "piles": [["p0"]]},
        {"kind": "sort", "piles": [["p0", "p1"], ["p0"]]},
        {"kind": "sort", "piles": [["p0", "p1"], ["nobody"]]},
        {"kind": "sort", "piles": [["p0"], ["p1"]], "items": ["p1", "p0"]},
        {"kind": "sort", "piles": [[f"p{n}" for n in range(5001)]]},
        {"kind": "sort", "piles": None},
        {"kind": "same", "piles": [["p0"], ["p1"]], "items": ["p0", "p1"]},
        {"kind": "merge", "group": "g", "into": "h"},
        {"kind": "note", "note": "x" * 5000},
        {"kind": "note", "note": {"a": 1}},
        {"kind": "undo", "undoes": 1},
        {"kind": "note", "note": "half \ud800"},
        {"kind": "note", "note": "no key", "key": None},
        {"kind": "note", "note": "a key with code", "key": "';DROP TABLE log"},
    ],
)
def test_decisions_that_are_none_are_refused(studio, sent):
    process, client = studio
    before = client.get("/api/status")["at"]
    status, _, body = client.request("POST", "/api/decide", {"key": "abcdefgh", **sent})
    assert status == 409
    assert json.loads(body)["error"]
    assert client.get("/api/status")["at"] == before
    assert process.heard("refused: POST /api/decide")


NAMES = [
    "../secret.csv",
    "/etc/passwd",
    "..",
    ".",
    "",
    "a/b.csv",
    "..\\secret.csv",
    ".hidden.csv",
    "link.csv",
]
NAMES += ["people.csv\x00.csv", "x\n.csv", "%2e%2e/secret.csv", "....//secret.csv"]


@pytest.mark.parametrize("name", NAMES)
def test_no_file_outside_of_the_folder(studio, name):
    from urllib.parse import quote

    process, client = studio
    asked = quote(name, safe="")
    for method, path, body in (
        ("GET", f"/api/preview?file={asked}", None),
        ("POST", "/api/begin", {"file": name, "fields": ["name"], "id": "", "kind": "auto"}),
        ("POST", "/api/open", {"name": name}),
    ):
        status, _, answer = client.request(method, path, body)
        assert status == 409, (path, answer)
        assert b"secret" not in answer.replace(b"secret.csv", b"")
    kind = {"Content_Type": "application/octet-stream"}
    status, _, _ = client.request("POST", f"/api/upload?name={asked}", b"nr\n1\n", **kind)
    assert status == 409
    assert client.request("GET", f"/files/{asked}")[0] == 404
    assert client.request("GET", f"/static/{asked}")[0] == 404
    assert process.heard("refused: ")
    assert sorted(p.name for p in process.folder.parent.iterdir() if p.is_file()) == ["secret.csv"]


def test_uploads_are_bounded_and_replace_nothing(studio):
    process, client = studio
    kind = {"Content_Type": "application/octet-stream"}
    before = (process.folder / "people.csv").read_bytes()
    for name, content, wanted in [
        ("people.csv", b"nr\n1\n", 409),
        ("tool.py", b"print()", 409),
        ("big.csv", b"x" * (2**20 + 1), 413),
        ("new.csv", b"nr,name\n1,Ann\n2,Bob\n", 200),
    ]:
        assert client.request("POST", f"/api/upload?name={name}", content, **kind)[0] == wanted
    assert (process.folder / "people.csv").read_bytes() == before
    assert not (process.folder / "big.csv").exists()
    assert process.heard("refused: POST /api/upload")


def test_a_hundred_megabytes_are_not_read(studio):
    process, client = studio
    with socket.create_connection((client.host, client.port), timeout=10) as sock:
        head = (
            f"POST /api/upload?name=huge.csv HTTP/1.1\r\nHost: {client.host}:{client.port}\r\n"
            f"Origin: {client.origin}\r\nCookie: {client.cookie}\r\n"
            "Content-Type: application/octet-stream\r\n"
            f"Content-Length: {100 * 2**20}\r\n\r\n"
        )
        sock.sendall(head.encode() + b"x" * 1000)
        assert b"413" in sock.recv(100)
    assert process.heard("104857600 bytes")


def test_more_than_was_said_is_not_taken(studio):
    _, client = studio
    with socket.create_connection((client.host, client.port), timeout=10) as sock:
        head = (
            f"POST /api/decide HTTP/1.1\r\nHost: {client.host}:{client.port}\r\nOrigin: {client.origin}\r\n"
            f"Cookie: {client.cookie}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        sock.sendall(head.encode())
        assert b"411" in sock.recv(100)


def test_scripts_in_every_field_stay_text(tmp_path):
    (tmp_path / "evil.csv").write_text(
        f'nr,"{SCRIPT}",name\n"{SCRIPT}","{SCRIPT}","{SCRIPT}"\nb,x,y\nc,x,z\n', encoding="utf-8"
    )
    process = Process(tmp_path)
    try:
        client = Client(process.url)
        client.begin("evil.csv", [SCRIPT, "name"])
        client.decide("note", note=SCRIPT)
        for page in ("/", *(f"/{page.name}" for page in PAGES)):
            assert SCRIPT.encode() not in client.request("GET", page)[2]
        _status, headers, _ = client.request("GET", "/api/items")
        assert headers["content-type"] == "application/json"
        assert client.get("/api/items")["items"][0]["id"] == SCRIPT
    finally:
        process.close()


def test_hosts_by_address_when_others_may_come():
    policy = Policy(80, ("here",), any_address=True)
    assert policy.is_host("192.168.0.7:80")
    assert policy.is_host("[fe80::1]:80")
    assert policy.is_host("here:80")
    assert not policy.is_host("evil.example:80")
    assert not Policy(80).is_host("192.168.0.7:80")


def test_listening_to_other_machines_warns(tmp_path):
    process = Process(tmp_path, "--listen", "0.0.0.0")
    try:
        assert process.heard("warning: --listen")
        assert Client(process.url).request("GET", "/", Cookie=None)[0] == 403
    finally:
        process.close()


def test_the_folder_lists_no_links(tmp_path):
    (tmp_path / "a.csv").write_text("x\n")
    (tmp_path / "b.csv").symlink_to("/etc/passwd")
    assert [f["name"] for f in Folder(tmp_path).list_files()] == ["a.csv"]


def test_what_a_project_has_exported_is_not_offered_as_data(tmp_path):
    for name in ("a.csv", "a.clustruct.db", "a.groups.csv", "a.corrections.csv", "b.groups.csv"):
        (tmp_path / name).write_text("x\n")
    assert [f["name"] for f in Folder(tmp_path).list_files()] == ["a.csv", "b.groups.csv"]
