"""Files of the reader's own as a page reads them: from disk, in part, refused with a sentence."""

import json
import re
from types import SimpleNamespace

from tests.pages.driver import plain
from tests.ui.driver import opened
from ui import task_data, uploads
from ui.door import uploads as door
from ui.uploads import UploadedFile, received


def line(**said) -> bytes:
    """What Streamlit gets in place of a file."""
    return (door._MARK + json.dumps(said)).encode()


def given(name, content, file_id="1"):
    return SimpleNamespace(name=name, file_id=file_id, getvalue=lambda: content)


def test_a_file_is_read_from_where_it_lies(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"content")
    (file,) = received([given("mine.tsv", line(path=str(path), size=7))])
    assert (file.name, file.file_id, file.size, file.getvalue()) == ("mine.tsv", "1", 7, b"content") and file.there
    path.unlink()
    assert not file.there


def test_the_head_of_a_large_file_ends_with_a_line(tmp_path, monkeypatch):
    monkeypatch.setattr(uploads, "HEAD", 10)
    path = tmp_path / "x"
    for content, head in ((b"one\ntwo\nthree\n", b"one\ntwo\n"), (b"short", b"short"), (b"x" * 30, b"x" * 10)):
        path.write_bytes(content)
        assert UploadedFile("x", "1", len(content), path).head() == head
        assert UploadedFile("x", "1", len(content), content=content).head() == head


def test_what_was_not_taken_is_said_and_why(tmp_path):
    refused = [("<b>a.tsv</b>", line(refused="visitor")), ("b.tsv", line(refused="server"))]
    refused += [("c.tsv", line(refused="disk")), ("d.tsv", line(path=str(tmp_path / "gone"), size=1))]
    app = opened(received, [given(name, content, name) for name, content in refused])
    assert app.session_state["got"] == []
    assert len({box.value for box in app.error}) == 4 and "<b>" not in app.error[0].value
    assert all(plain(box.value).startswith(name) for box, (name, _line) in zip(app.error, refused, strict=True))


def test_a_large_table_is_read_apart_and_cut_to_size(tmp_path, monkeypatch):
    monkeypatch.setattr(task_data, "READ_HERE", 1_000)
    monkeypatch.setattr(task_data, "MOST_TRAINING", 400)
    monkeypatch.setattr(task_data, "MOST_DEV", 100)
    path = tmp_path / "x"
    path.write_text("label\ttext\n" + "".join(f"{'ab'[i % 2]}\ttext {i}\n" for i in range(3_000)), encoding="utf-8")
    content = line(path=str(path), size=path.stat().st_size)
    files = {"file": [given("mine.tsv", content)]}
    monkeypatch.setattr(task_data, "sticky_uploader", lambda _page, key, *_more: received(files.get(key, [])))
    app = opened(task_data.own_files, "classification")
    assert not app.error, [box.value for box in app.error]
    chosen = app.session_state["got"]
    assert (len(chosen.train.examples), len(chosen.dev.examples)) == (400, 100)
    assert re.findall(r"[\d,]+\d", app.info[0].value)[:2] == ["3,000", "400"]
