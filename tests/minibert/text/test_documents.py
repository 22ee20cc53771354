"""Reading text: plain, packed, JSON lines; what cannot be read is named."""

import gzip
import json
import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

import minibert.text.documents
from minibert.text.documents import LONGEST_LINE, DataError, held_apart, read_documents, split_sentences

TEXT = "the cat sat.\nit slept!\n\nA dog ran. He was Mr. Smith's dog.\n"


def test_plain_packed_and_folders_read_alike(tmp_path):
    expected = [["the cat sat.", "it slept!"], ["A dog ran. He was Mr. Smith's dog."]]
    (tmp_path / "a.txt").write_text("\ufeff" + TEXT)  # a byte order mark is not text
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(TEXT.encode()))
    (tmp_path / "c.txt.xz").write_bytes(lzma.compress(TEXT.encode()))
    (tmp_path / "notes.md").write_text("not data")
    for name in ("a.txt", "b.txt.gz", "c.txt.xz"):
        assert list(read_documents([tmp_path / name])) == expected
    assert list(read_documents([tmp_path])) == expected * 3


@pytest.mark.parametrize(
    ("line", "sentences"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Mr. Smith met Dr. J. Doe. They spoke.", ["Mr. Smith met Dr. J. Doe.", "They spoke."]),
        ('"Stop!" she said. "Now."', ['"Stop!" she said.', '"Now."']),
        ("It cost 3.50 dollars. cheap", ["It cost 3.50 dollars. cheap"]),
        ("他来了。她走了！真的吗？", ["他来了。", "她走了！", "真的吗？"]),
        ("太好了！！！什么？！走吧。", ["太好了！！！", "什么？！", "走吧。"]),
        ("他说：“走。”她走了。", ["他说：“走。”她走了。"]),
        ("", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(line, sentences):
    assert split_sentences(line) == sentences


@given(st.text(alphabet='aB .!?。”" ', max_size=60))
def test_splitting_loses_nothing_but_spaces(line):
    assert "".join("".join(split_sentences(line)).split()) == "".join(line.split())


DEEP = b'{"text": ' + b"[" * 100_000
BAD = {
    "latin.txt": (b"fine\n" + "caf\xe9\n".encode("latin-1"), "latin.txt, line 2: not UTF-8"),
    "binary.txt": (b"ok\nbad\0\n", "binary.txt, line 2: a NUL byte"),
    "cut.txt.xz": (lzma.compress(TEXT.encode())[:-20], "cut.txt.xz cannot be read"),
    "fake.txt.gz": (b"not gzip", "fake.txt.gz cannot be read"),
    "hurt.txt.gz": (gzip.compress(TEXT.encode(), mtime=0)[:12] + b"\xff" * 40, "hurt.txt.gz cannot be read"),
    "half.jsonl": (b'{"text": "fine"}\n{"text": "a \\ud800 b"}\n', "half.jsonl, line 2: "),
    "deep.jsonl": (DEEP, "deep.jsonl, line 1: "),
    "blank.txt": (b"\n \n\n", "blank.txt is empty"),
    "giant.txt": (b"word " * (LONGEST_LINE // 4), "giant.txt, line 1: longer than 1 MB"),
    "list.jsonl": (b"[1, 2]\n", 'list.jsonl, line 1: not a JSON object with a "text"'),
    "torn.jsonl": (b'{"text": "fine"}\n{"text": \n', "torn.jsonl, line 2: not a JSON object"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_named_file_is_refused_and_one_in_a_folder_passed_over_with_a_note(tmp_path, name):
    content, message = BAD[name]
    (tmp_path / name).write_bytes(content)
    (tmp_path / "zz-good.txt").write_text(TEXT)
    for skipped in (None, []):
        with pytest.raises(DataError, match=message):
            list(read_documents([tmp_path / name], skipped))
    notes = []
    documents = list(read_documents([tmp_path], notes))
    assert documents[-2:] == list(read_documents([tmp_path / "zz-good.txt"]))
    assert len(notes) == 1 and message in notes[0]


def test_folders_without_one_good_file_are_refused_with_the_reasons(tmp_path):
    with pytest.raises(DataError, match="does not exist"):
        list(read_documents([tmp_path / "nowhere"]))
    with pytest.raises(DataError, match=r"holds no \.txt"):
        list(read_documents([tmp_path]))
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9\n")
    with pytest.raises(DataError, match=r"latin\.txt, line 1"):
        list(read_documents([tmp_path], []))
    (tmp_path / "GOOD.TXT").write_text(TEXT)
    (tmp_path / "._good.txt").write_text("what an archive of another system left")
    assert list(read_documents([tmp_path], [])) == list(read_documents([tmp_path / "GOOD.TXT"]))


def test_a_document_that_never_ends_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(minibert.text.documents, "LONGEST_DOCUMENT", 1 << 20)
    (tmp_path / "a.txt").write_text("One.\n\n" + "All of it on lines, and no line is blank.\n" * 30_000)
    documents = read_documents([tmp_path / "a.txt"])
    assert next(documents) == ["One."]
    with pytest.raises(DataError, match=r"a\.txt, line \d+: 1 million"):
        next(documents)


def test_json_lines_are_a_document_each_whatever_the_file_is_called(tmp_path):
    long = "word " * (LONGEST_LINE // 4) + "end"  # longer than a line of plain text may be
    lines = [{"text": "One.\nTwo.\n\nThree."}, {"text": " "}, {"text": "你好。", "more": 1}, {"text": long}]
    content = "\n".join(json.dumps(line) for line in lines).encode()
    pack = {"gz": gzip.compress, "xz": lzma.compress}
    for name in ("a.jsonl", "a.ndjson", "a.json", "a.JSONL", "a.json.gz", "a.jsonl.xz"):
        file = tmp_path / name
        file.write_bytes(pack.get(name[-2:], bytes)(content))
        assert list(read_documents([file])) == [["One.", "Two.", "Three."], ["你好。"], [long]]


def test_every_tenth_document_is_held_apart():
    documents = [[str(n)] for n in range(1, 22)]
    train, dev = held_apart(documents)
    assert dev == [["10"], ["20"]] and sorted(train + dev) == sorted(documents)
    assert held_apart(documents[:9]) == (documents[:9], [])


def test_notes_say_how_much_of_a_file_was_read_and_of_json_lines_only_the_bad_are_left_out(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"one\n\ntwo\n\ncaf\xe9\n\nfour\n")
    lines = ['{"text": "One."}', "[1]", '{"text": "Two."}', "{", '{"text": 3}', '{"text": "Three."}']
    (tmp_path / "b.jsonl").write_text("\n".join(lines))
    notes = []
    assert list(read_documents([tmp_path], notes)) == [["one"], ["two"], ["One."], ["Two."], ["Three."]]
    cut_short, bad, more = notes
    assert "line 5" in cut_short and "2 documents" in cut_short
    assert "b.jsonl, line 2" in bad and "2 more" in more


def test_a_line_of_abbreviations_is_read_once():
    """Not as often as there are of them: 200,000 would take an hour."""
    assert split_sentences("Mr. A " * 100_000) == [("Mr. A " * 100_000).strip()]
    sentences = ["He met Mr. A. B. Smith.", "She Mrs. C, vs. Dr. D at St. E. Really?", "Yes."]
    assert split_sentences(" ".join(sentences)) == sentences
