"""Files are fetched over bad connections, and only right ones stay."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llm_gym.download import download
from llm_gym.errors import DataMismatch, InvalidSetting, MissingData

CONTENT = bytes(range(256)) * 1000
"""More than one block, and no two parts of it alike in the same place."""
CHANGED = CONTENT[::-1]
GOOD = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def fetch(file_server, tmp_path):
    """`download` of the server's file into an empty folder, which waits for nothing; keeps how long it should have."""
    file_server.files["/games.zip"] = CONTENT
    pauses: list[float] = []

    def fetch(path="/games.zip", **settings):
        settings = {"sha256": None, "max_bytes": 1_000_000, "pause": pauses.append} | settings
        return download(file_server.url + path, tmp_path / "in" / "games.zip", **settings)

    fetch.pauses = pauses
    return fetch


@pytest.fixture(autouse=True)
def quiet(caplog):
    caplog.set_level(logging.CRITICAL, "llm_gym.download")


def breaks_after(count, **told):
    """An answer whose connection is cut after so many bytes of the body."""
    return lambda request: request.good(cut=count, **told)


def reset_by_peer(request):
    request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    request.wfile.write(b"HTTP/1.0 200 OK\r\nContent-Length: 256000\r\n\r\n")
    request.connection.close()


def ranges_asked(server):
    return [headers.get("Range") for _, headers in server.asked]


def folder(tmp_path):
    return sorted(path.name for path in (tmp_path / "in").iterdir())


def test_a_file_arrives_whole_and_alone(fetch, tmp_path):
    seen = []
    target = fetch(sha256=GOOD, progress=lambda there, total: seen.append((there, total)))
    assert target.read_bytes() == CONTENT
    assert folder(tmp_path) == ["games.zip"]
    assert (seen[0], seen[-1]) == ((0, 256_000), (256_000, 256_000))
    assert seen == sorted(seen)


def test_a_file_that_is_there_is_not_asked_for(fetch, file_server):
    fetch(sha256=GOOD)
    fetch(sha256=GOOD)
    assert len(file_server.asked) == 1


def test_another_file_in_its_place_is_replaced(fetch):
    target = fetch()
    target.write_bytes(b"something else")
    assert fetch(sha256=GOOD).read_bytes() == CONTENT


def test_an_empty_file_is_a_file(fetch, file_server, tmp_path):
    file_server.files["/games.zip"] = b""
    assert fetch().read_bytes() == b""
    assert folder(tmp_path) == ["games.zip"]


def test_redirections_are_followed_and_keep_the_range(fetch, file_server):
    file_server.files["/elsewhere"] = CONTENT

    def moved(request):
        request.send_response(302)
        request.send_header("Location", "/elsewhere")
        request.end_headers()

    file_server.script = [moved, breaks_after(100_000), moved]
    assert fetch(sha256=GOOD).read_bytes() == CONTENT
    assert ranges_asked(file_server) == [None, None, "bytes=100000-", "bytes=100000-"]


def test_a_cut_connection_goes_on_where_it_was_cut(fetch, file_server):
    file_server.script = [breaks_after(100_000), breaks_after(50_000)]
    assert fetch(sha256=GOOD).read_bytes() == CONTENT
    assert ranges_asked(file_server) == [None, "bytes=100000-", "bytes=150000-"]
    assert fetch.pauses == [1, 2]


def test_resets_and_servers_out_of_order_are_asked_again(fetch, file_server):
    file_server.script = [reset_by_peer, lambda request: request.send_error(503)]
    assert fetch(sha256=GOOD).read_bytes() == CONTENT


def test_a_silent_server_is_asked_again(fetch, file_server):
    file_server.script = [lambda request: time.sleep(1)]
    assert fetch(sha256=GOOD, timeout_s=0.2).read_bytes() == CONTENT


def test_a_body_that_stops_flowing_is_asked_for_again(fetch, file_server):
    def stalls(request):
        breaks_after(70_000)(request)
        request.wfile.flush()
        time.sleep(1)

    file_server.script = [stalls]
    assert fetch(sha256=GOOD, timeout_s=0.2).read_bytes() == CONTENT
    assert ranges_asked(file_server)[1].startswith("bytes=6")


def test_what_has_arrived_is_kept_for_the_next_call(fetch, file_server, tmp_path):
    file_server.script = [breaks_after(100_000), *[lambda request: request.send_error(502)] * 4]
    with pytest.raises(MissingData, match=r"502 Bad Gateway.*100,000 bytes have arrived and are kept"):
        fetch()
    assert folder(tmp_path) == ["games.zip.part", "games.zip.part.json"]
    assert fetch.pauses == [1, 2, 4, 8]
    assert fetch(sha256=GOOD).read_bytes() == CONTENT
    assert ranges_asked(file_server)[-1] == "bytes=100000-"
    assert folder(tmp_path) == ["games.zip"]


def test_a_truncated_file_is_no_file(fetch, file_server, tmp_path):
    file_server.script = [lambda request: request.good(Content_Length=300_000)]
    with pytest.raises(MissingData, match="the connection ended after 256,000 of 300,000 bytes"):
        fetch(attempts=1)
    assert "games.zip" not in folder(tmp_path)


def test_a_length_that_is_too_small_is_found_out_by_the_digest(fetch, file_server, tmp_path):
    file_server.script = [lambda request: request.good(Content_Length=1000)]
    with pytest.raises(DataMismatch, match="SHA-256"):
        fetch(sha256=GOOD)
    assert folder(tmp_path) == []


def test_a_server_without_ranges_begins_anew(fetch, file_server):
    file_server.script = [breaks_after(100_000), lambda request: request.good(ranges=False)]
    assert fetch(sha256=GOOD).read_bytes() == CONTENT


def test_a_server_that_sends_another_range_begins_anew(fetch, file_server):
    def other(request):
        request.good(Content_Range="bytes 5-255999/256000")

    file_server.script = [breaks_after(100_000), other]
    assert fetch(sha256=GOOD).read_bytes() == CONTENT
    assert ranges_asked(file_server) == [None, "bytes=100000-", None]


def test_a_file_that_changed_in_between_begins_anew(fetch, file_server):
    file_server.script = [breaks_after(100_000)]
    with pytest.raises(MissingData):
        fetch(attempts=1)
    file_server.files["/games.zip"] = CHANGED
    assert fetch().read_bytes() == CHANGED


def test_a_file_that_became_shorter_than_its_beginning_begins_anew(fetch, file_server):
    file_server.script = [breaks_after(100_000)]
    with pytest.raises(MissingData):
        fetch(attempts=1)
    file_server.files["/games.zip"] = b"short"
    file_server.script = [lambda request: request.send_error(416)]
    assert fetch().read_bytes() == b"short"


def test_without_a_mark_of_the_content_nothing_is_joined(fetch, file_server):
    file_server.script = [breaks_after(100_000, marked=False), lambda request: request.good(marked=False)]
    assert fetch().read_bytes() == CONTENT
    assert ranges_asked(file_server) == [None, None]


def test_a_date_marks_the_content_where_there_is_only_a_weak_tag(fetch, file_server):
    date = "Wed, 21 Oct 2015 07:28:00 GMT"
    file_server.script = [breaks_after(100_000, ETag='W/"1"', Last_Modified=date), lambda request: request.good()]
    assert fetch(sha256=GOOD).read_bytes() == CONTENT
    assert file_server.asked[1][1]["If-Range"] == date


def test_a_beginning_of_another_address_is_not_gone_on_with(fetch, file_server):
    file_server.files["/mirror/games.zip"] = CHANGED
    file_server.script = [breaks_after(100_000)]
    with pytest.raises(MissingData):
        fetch(attempts=1)
    assert fetch("/mirror/games.zip").read_bytes() == CHANGED


@pytest.mark.parametrize("note", [b"", b"[]", b"{}", b'{"url": 1}', b"\xff"])
def test_a_damaged_note_begins_anew(fetch, file_server, tmp_path, note):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "games.zip.part").write_bytes(b"anything")
    (tmp_path / "in" / "games.zip.part.json").write_bytes(note)
    assert fetch(sha256=GOOD).read_bytes() == CONTENT


def test_a_whole_beginning_is_not_asked_for(fetch, file_server, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "games.zip.part").write_bytes(CONTENT)
    note = {"url": f"{file_server.url}/games.zip", "validator": '"1"', "length": len(CONTENT)}
    (tmp_path / "in" / "games.zip.part.json").write_text(json.dumps(note))
    assert fetch(sha256=GOOD).read_bytes() == CONTENT
    assert file_server.asked == []


def test_other_content_is_removed_and_both_digests_are_told(fetch, file_server, tmp_path):
    file_server.files["/games.zip"] = CHANGED
    changed = hashlib.sha256(CHANGED).hexdigest()
    with pytest.raises(DataMismatch, match=f"SHA-256 {changed} instead of {GOOD}.*removed"):
        fetch(sha256=GOOD)
    assert folder(tmp_path) == []


@pytest.mark.parametrize("length", [300_000, None])
def test_a_file_that_is_too_long_is_refused_told_or_not(fetch, file_server, tmp_path, length):
    file_server.files["/games.zip"] = bytes(300_000)
    file_server.script = [lambda request: request.good(Content_Length=length)]
    with pytest.raises(DataMismatch, match="longer than the 299,999 bytes"):
        fetch(max_bytes=299_999)
    assert folder(tmp_path) == []


def test_a_file_that_is_not_there_is_told_at_once(fetch, file_server, tmp_path):
    with pytest.raises(MissingData, match=r"/nowhere is not to be had: the server answers 404 Not Found\."):
        fetch("/nowhere")
    assert (len(file_server.asked), folder(tmp_path)) == (1, [])


def test_nobody_listening_is_one_sentence(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and never listens
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/games.zip"
        with pytest.raises(MissingData, match=r"cannot be fetched: .*refused\. Check the network and try again\.$"):
            download(url, tmp_path / "games.zip", sha256=None, max_bytes=10, pause=lambda seconds: None)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://host/x",
        "games.zip",
        "",
        "http://",
        "https:///x",
        "http://[::1",
        "http://a b/",
        "http://a\n/",
    ],
)
def test_only_http_addresses_are_fetched(tmp_path, url):
    with pytest.raises(InvalidSetting, match="begins with https://"):
        download(url, tmp_path / "games.zip", sha256=None, max_bytes=10)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:,x"])
def test_a_server_cannot_lead_to_other_schemes(fetch, file_server, tmp_path, place):
    def moved(request):
        request.send_response(302)
        request.send_header("Location", place)
        request.end_headers()

    file_server.script = [moved] * 5
    with pytest.raises(MissingData):
        fetch()
    assert folder(tmp_path) == []


def test_a_full_disk_passes_as_it_is_and_keeps_the_beginning(fetch, tmp_path):
    def full(there, total):
        if there:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OSError, match="No space left"):
        fetch(progress=full)
    assert folder(tmp_path) == ["games.zip.part", "games.zip.part.json"]


def test_two_processes_do_not_write_one_file(fetch, tmp_path):
    def meanwhile(there, total):
        with pytest.raises(InvalidSetting, match="Another process is fetching"):
            fetch()

    fetch(progress=meanwhile)
    assert folder(tmp_path) == ["games.zip"]


@pytest.mark.parametrize("kill", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_process_leaves_a_beginning_for_the_next(fetch, file_server, tmp_path, kill):
    def flows_slowly(request):
        breaks_after(100_000)(request)
        request.wfile.flush()
        time.sleep(5)

    file_server.script = [flows_slowly]
    target = tmp_path / "in" / "games.zip"
    code = f"""
        from pathlib import Path
        from llm_gym.download import download
        download({file_server.url + "/games.zip"!r}, Path({str(target)!r}), sha256={GOOD!r}, max_bytes=1_000_000)
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stderr=subprocess.PIPE) as process:
        part = tmp_path / "in" / "games.zip.part"
        while process.poll() is None and not (part.exists() and part.stat().st_size >= 65_536):
            time.sleep(0.01)
        process.send_signal(kill)
        process.wait(timeout=30)
    assert not target.exists()
    arrived = part.stat().st_size
    assert fetch(sha256=GOOD).read_bytes() == CONTENT
    assert ranges_asked(file_server) == [None, f"bytes={arrived}-"]


CUTS = st.integers(0, len(CONTENT) - 1)
FAULTS = st.one_of(
    CUTS.map(breaks_after),
    CUTS.map(lambda count: breaks_after(count, ranges=False)),
    CUTS.map(lambda count: breaks_after(count, marked=False)),
    CUTS.map(lambda count: breaks_after(count, Content_Length=count)),
    st.just(reset_by_peer),
    st.sampled_from([408, 416, 429, 500, 503]).map(lambda status: lambda request: request.send_error(status)),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(calls=st.lists(st.tuples(st.lists(FAULTS, max_size=3), st.sampled_from([CONTENT, CHANGED])), max_size=4))
def test_whatever_goes_wrong_the_file_is_whole_or_not_there(fetch, file_server, tmp_path, calls):
    target = tmp_path / "in" / "games.zip"
    for faults, content in [*calls, ([], CONTENT)]:
        file_server.script, file_server.files["/games.zip"] = list(faults), content
        digest = hashlib.sha256(content).hexdigest()
        with contextlib.suppress(MissingData, DataMismatch):
            fetch(sha256=digest, attempts=2)
            assert target.read_bytes() == content
    assert target.read_bytes() == CONTENT
    target.unlink()
