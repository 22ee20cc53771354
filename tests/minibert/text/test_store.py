"""Token stores: the same in memory, on disk, from one process or from several."""

import json

import numpy as np
import pytest

from minibert.text.documents import DataError
from minibert.text.store import JOINED, TokenStore, cached_store
from minibert.tokenizer import SPECIAL_TOKENS, Tokenizer
from tests.spelling import LETTERS

CHINESE = ["他来到北京大学。看见了很多学生！", "今天天气很好。"]


def test_store_gives_back_the_sentences(letters):
    documents = [["ab. Cd", "e!"], ["fg"]]
    store = TokenStore.build(documents, letters)
    expected = [[letters.encode_bulk([s])[0] for s in sentences] for sentences in (["ab.", "Cd", "e!"], ["fg"])]
    assert len(store) == 2
    assert [list(store.document(i)) for i in range(2)] == expected
    assert store.ids.dtype == np.uint16
    with pytest.raises(DataError, match="no text"):
        TokenStore.build([[" "]], letters)


def equal(one: TokenStore, other: TokenStore) -> bool:
    arrays = ("ids", "sentences", "documents")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in arrays)


def test_disk_memory_and_processes_agree(letters, tmp_path, monkeypatch):
    documents = [[f"{letter} {'abcd ' * 20}. {letter}!"] * (n + 1) for n, letter in enumerate(LETTERS)]
    in_memory = TokenStore.build(documents, letters)
    monkeypatch.setattr("minibert.text.store.CHUNK", 2_000)
    on_disk = TokenStore.build(documents, letters, tmp_path / "one")
    by_several = TokenStore.build(documents, letters, tmp_path / "two", processes=2)
    assert isinstance(on_disk.ids, np.memmap)
    assert equal(in_memory, on_disk) and equal(in_memory, by_several)
    assert not list(tmp_path.glob(".tokens-*"))


def test_a_store_that_fails_leaves_nothing(letters, tmp_path):
    def torn():
        yield ["ab."]
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="gone"):
        TokenStore.build(torn(), letters, tmp_path / "store")
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_is_not_what_it_says_is_not_opened(tmp_path, letters):
    TokenStore.build([["a b", "c"]], letters, tmp_path / "store")
    file = tmp_path / "store" / "store.json"
    told = json.loads(file.read_text())
    changes = {"type": "O", "segmented": "no", "tokens": 10**9, "documents": "many", "sentences": -1, "format": 0}
    broken = [json.dumps({**told, name: wrong}) for name, wrong in changes.items()]
    for content in (*broken, json.dumps({**told, "type": 5}), "[" * 100_000):
        file.write_text(content)
        with pytest.raises(DataError, match=r"holds no token store|another version"):
            TokenStore.open(tmp_path / "store")
    with pytest.raises(DataError, match="holds no token store"):
        TokenStore.open(tmp_path)


def test_the_cache_knows_files_and_vocabulary(letters, tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("ab cd.")
    steps = []
    options = {"cache": tmp_path / "cache", "progress": steps.append}
    first, skipped = cached_store([file], letters, **options)
    again, _ = cached_store([file], letters, **options)
    assert equal(first, again) and steps == ["tokenizing"] and skipped == []
    file.write_text("ab cd ef.")
    changed, _ = cached_store([file], letters, **options)
    assert len(changed.ids) > len(first.ids) and len(steps) == 2
    cached_store([file], Tokenizer([*letters.vocab, "ab"]), **options)
    assert len(steps) == 3


def test_a_segmenter_marks_words_and_changes_no_id(tmp_path):
    jieba = pytest.importorskip("jieba")
    jieba.setLogLevel("WARNING")
    characters = sorted({c for text in CHINESE for c in text})
    letters = Tokenizer([*SPECIAL_TOKENS, *characters])
    plain = TokenStore.build([CHINESE], letters)
    marked = TokenStore.build([CHINESE], letters, words="jieba")
    assert np.array_equal(plain.ids, marked.plain()) and np.array_equal(plain.sentences, marked.sentences)
    flags = [bool(i & JOINED) for sentence in marked.document(0) for i in sentence]
    starts, position = set(), 0
    for sentence in ["他来到北京大学。", "看见了很多学生！", "今天天气很好。"]:
        for word in jieba.cut(sentence):
            starts.add(position)
            position += len(word)
    assert flags == [i not in starts for i in range(position)]
    assert any(flags)
    with pytest.raises(ValueError, match="none, jieba"):
        TokenStore.build([CHINESE], letters, words="scissors")
