"""The byte-level BPE against `tokenizers` and transformers, on any text."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import ByteLevelBPETokenizer
from transformers import AddedToken, AutoTokenizer, RobertaTokenizerFast
from transformers.convert_slow_tokenizer import bytes_to_unicode

from minibert import checkpoint
from minibert.relatives.roberta import RobertaConfig
from minibert.text.byte_tokenizer import SPECIAL_TOKENS, ByteTokenizer, byte_letters
from minibert.toy.world import documents

ORDER = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]  # RoBERTa's, from 0
HARD = ["don't you're it's", "  two  spaces ", "a\n\nb\t c", "naïve café", "你吃了吗？", "x²+½=Ⅷ", "👩‍👩‍👧 ok"]
HARD += ["e\u0301", "\u00a0a\u3000b", "'s 'S"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """vocab.json and merges.txt, learned by `tokenizers`."""
    folder = tmp_path_factory.mktemp("bpe")
    learned = ByteLevelBPETokenizer()
    texts = [line for story in documents(60, 3) for line in story] + HARD
    learned.train_from_iterator(texts, vocab_size=700, min_frequency=2, special_tokens=ORDER)
    learned.save_model(str(folder))
    return folder


@pytest.fixture(scope="module")
def ours(files):
    return ByteTokenizer.from_directory(files)


@pytest.fixture(scope="module")
def theirs(files):
    vocab = json.loads((files / "vocab.json").read_text())
    merges = [tuple(line.split(" ")) for line in (files / "merges.txt").read_text().split("\n")[1:] if line]
    return RobertaTokenizerFast(vocab=vocab, merges=merges, mask_token=AddedToken("<mask>", lstrip=True))


def test_every_byte_has_a_letter_of_its_own():
    assert byte_letters() == bytes_to_unicode()


def same(ours, theirs, text):
    one, other = ours.encode(text), theirs(text, return_offsets_mapping=True)
    assert one.ids == other["input_ids"], text
    assert one.offsets == [tuple(pair) for pair in other["offset_mapping"]], text
    assert [w for w in one.words if w is not None] == [w for w in other.word_ids() if w is not None], text


def test_it_is_the_ecosystems_tokenizer(ours, theirs):
    for text in (*HARD, "", " ", "the <mask> barked", "a <mask>", "<s>x</s>", "the keys near the box were big ."):
        same(ours, theirs, text)
    assert ours.encode("the [MASK] barked").ids == ours.encode("the <mask> barked").ids  # who types it gets it
    pair = ours.encode("anna lost it", "she found it")  # with two tokens between them
    assert pair.ids == theirs("anna lost it", "she found it")["input_ids"]
    assert len(ours.encode("anna lost it " * 9, "she found it", max_length=16)) == 16
    assert [pair.segments[i] for i in (0, -1)] == [0, 1]


@settings(max_examples=300)
@given(st.text(st.characters(exclude_categories=("Cs", "Cn")), max_size=40))
def test_of_any_text(ours, theirs, text):
    assert ours.encode_bulk([text]) == [theirs(text, add_special_tokens=False)["input_ids"]]
    text = text.replace("[MASK]", "")  # which is `<mask>` where somebody types it
    same(ours, theirs, text)
    if not any(token in text for token in (*SPECIAL_TOKENS, "\0")):
        assert ours.decode(ours.encode(text).ids, skip_special=True) == text


def test_it_is_saved_and_read_again(ours, tmp_path):
    ours.save(tmp_path)
    again = checkpoint.load_tokenizer(tmp_path)
    assert isinstance(again, ByteTokenizer) and again.vocab == ours.vocab and again.merges == ours.merges
    for file in ("merges.txt", "vocab.json"):
        (tmp_path / file).unlink()
    assert checkpoint.load_tokenizer(tmp_path).merges == ours.merges  # of tokenizer.json
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "roberta"}))
    assert AutoTokenizer.from_pretrained(tmp_path)("anna lost it")["input_ids"] == ours.encode("anna lost it").ids
    assert RobertaConfig().pad_token_id == 1 == ORDER.index("<pad>")


def test_what_is_none_is_refused(files, tmp_path):
    for vocab, merges, why in (
        ({"a": 0}, [], "lacks <pad>"),
        ({token: n + 1 for n, token in enumerate(ORDER)}, [], "0 to its length"),
        ({token: n for n, token in enumerate(ORDER)}, [("a", "b")], "lacks ab, which a merge makes"),
    ):
        with pytest.raises(ValueError, match=why):
            ByteTokenizer(vocab, merges)
    (tmp_path / "vocab.json").write_text((files / "vocab.json").read_text())
    (tmp_path / "merges.txt").write_text("#version: 0.2\nonly\n")
    with pytest.raises(ValueError, match=r"merges\.txt: it is no byte-level BPE"):
        checkpoint.load_tokenizer(tmp_path)
