"""Tokenizers that others trained and saved: read as transformers reads them, or refused by name."""

import json

import pytest
import transformers
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st
from tokenizers import (
    AddedToken,
    BertWordPieceTokenizer,
    ByteLevelBPETokenizer,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from tokenizers import Tokenizer as FastTokenizer

from minibert import checkpoint
from minibert.text.tokenizer_files import described_tokenizer
from minibert.tokenizer import SPECIAL_TOKENS, Tokenizer

WORDS = [
    "hello",
    "world",
    "the",
    "film",
    "é",
    "e",
    "##s",
    "É",
    "İ",
    "i",
    "中",
    "a",
    ",",
    "x",
    "Hello",
    "ss",
    "##\u0307",
]
VOCAB = [*SPECIAL_TOKENS, *WORDS]
TEXTS = [
    "",
    "the covid19 film",
    "the Covid19 film",
    "COVID19covid19s",
    "Hello World é É Éa İx, 中a",
    "x\u0001x\u200bx a\u2003b",
    " NEW  York new york  a",
    "[NAME] the [MASK] film [mask]",
    "hello covid19\u0301 한글 é\u0301 [END]",
    "word wordy a word, word",
]
NORMALIZER = normalizers.BertNormalizer


def wordpiece(normalizer=None, tokens=(), pre_tokenizer=None, post_processor=None, limit=100):
    """A tokenizer of `tokenizers` over VOCAB."""
    vocab = {piece: number for number, piece in enumerate(VOCAB)}
    fast = FastTokenizer(models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=limit))
    fast.normalizer = normalizer or NORMALIZER()
    fast.pre_tokenizer = pre_tokenizer or pre_tokenizers.BertPreTokenizer()
    fast.post_processor = post_processor or processors.TemplateProcessing(
        "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", [("[CLS]", 2), ("[SEP]", 3)]
    )
    fast.add_special_tokens(list(SPECIAL_TOKENS))
    for token in tokens:
        fast.add_tokens([token])
    return fast


def write(folder, fast=None, vocab=False, **files):
    """A directory with tokenizer.json of `fast`, vocab.txt if asked for, and JSON files by their stem."""
    folder.mkdir(exist_ok=True)
    if fast is not None:
        fast.save(str(folder / "tokenizer.json"))
    if vocab:
        (folder / "vocab.txt").write_text("\n".join(VOCAB) + "\n")
    for name, values in {"config": {"model_type": "bert"}, **files}.items():
        (folder / f"{name}.json").write_text(json.dumps(values))
    return folder


def assert_same(ours, theirs, texts=TEXTS):
    for text in texts:
        one, other = ours.encode(text), theirs(text, return_offsets_mapping=True)
        assert (one.ids, one.offsets) == (other["input_ids"], [tuple(pair) for pair in other["offset_mapping"]]), text
        assert ours.encode(text, "a film").ids == theirs(text, "a film")["input_ids"]
        assert ours.encode_bulk([text]) == [ours.encode(text, add_special=False).ids]


UNKNOWN = ["[CLS]", "[UNK]", "[UNK]", "[SEP]"]
BACKEND = {"tokenizer_class": "TokenizersBackend"}
COVID = {
    "content": "covid19",
    "lstrip": False,
    "rstrip": False,
    "single_word": False,
    "normalized": True,
    "special": False,
}
ADDED = {
    "plain": ["covid19"],
    "capitals": ["COVID19", "New York"],
    "raw": [AddedToken("COVID19", normalized=False)],
    "whole words": [AddedToken("word", single_word=True), AddedToken("covid19", single_word=True, normalized=False)],
    "with spaces": [AddedToken("film", lstrip=True), AddedToken("covid19", rstrip=True)],
    "special": [AddedToken("[NAME]", special=True), AddedToken("covid19", special=True, normalized=True)],
    "within and longer": ["covid", "covid19", "covid19s"],
    "in the vocabulary": ["hello", "中", "é"],
    "syllables": ["한", "한글"],
}
DIRECTORIES = {
    **{f"added: {name}": (lambda tokens=tokens: {"fast": wordpiece(tokens=tokens)}) for name, tokens in ADDED.items()},
    **{
        f"added, generic, cased: {name}": (
            lambda tokens=tokens: {"fast": wordpiece(NORMALIZER(lowercase=False), tokens), "tokenizer_config": BACKEND}
        )
        for name, tokens in ADDED.items()
    },
    "added_tokens.json": lambda: {"vocab": True, "added_tokens": {"covid19": len(VOCAB)}},
    "added_tokens.json beside tokenizer.json": lambda: {"fast": wordpiece(), "added_tokens": {"covid19": len(VOCAB)}},
    "added_tokens_decoder": lambda: {
        "vocab": True,
        "tokenizer_config": {
            "tokenizer_class": "BertTokenizer",
            "added_tokens_decoder": {str(len(VOCAB)): COVID, str(len(VOCAB) + 1): {**COVID, "content": "[X]"}},
        },
    },
    "special_tokens_map.json": lambda: {
        "vocab": True,
        "special_tokens_map": {"additional_special_tokens": ["[NAME]"], "bos_token": "[END]", "eos_token": "NEW"},
    },
    "bos and eos": lambda: {
        "fast": wordpiece(),
        "tokenizer_config": {"bos_token": "NEW", "eos_token": "[END]", "extra_special_tokens": ["[NAME]"]},
    },
    "cased by config": lambda: {"vocab": True, "tokenizer_config": {"do_lower_case": False}},
    "accents kept": lambda: {"vocab": True, "tokenizer_config": {"strip_accents": False}},
    "cased without accents": lambda: {
        "vocab": True,
        "tokenizer_config": {"strip_accents": True, "do_lower_case": False},
    },
    "chinese not split": lambda: {"vocab": True, "tokenizer_config": {"tokenize_chinese_chars": False}},
    **{
        f"normalizer {values}": (
            lambda values=values: {"fast": wordpiece(NORMALIZER(**values)), "tokenizer_config": BACKEND}
        )
        for values in (
            {"lowercase": False},
            {"clean_text": False},
            {"clean_text": False, "lowercase": False, "strip_accents": True},
            {"strip_accents": False},
            {"handle_chinese_chars": False},
        )
    },
    "short words": lambda: {"fast": wordpiece(limit=4), "tokenizer_config": BACKEND},
    "BertProcessing": lambda: {
        "fast": wordpiece(post_processor=processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))),
        "tokenizer_config": {"tokenizer_class": "PreTrainedTokenizerFast", "do_lower_case": False},
    },
}


@pytest.mark.parametrize("name", DIRECTORIES)
def test_it_is_what_transformers_reads_and_comes_back(name, tmp_path):
    folder = write(tmp_path / "theirs", **DIRECTORIES[name]())
    ours, theirs = Tokenizer.from_directory(folder), transformers.AutoTokenizer.from_pretrained(folder)
    assert ours.vocab_size == len(theirs)
    assert_same(ours, theirs)
    ours.save(tmp_path / "ours")
    assert_same(Tokenizer.from_directory(tmp_path / "ours"), theirs)
    write(tmp_path / "ours")  # config.json, which AutoTokenizer asks for
    assert_same(ours, transformers.AutoTokenizer.from_pretrained(tmp_path / "ours"))
    further = ours.with_special_tokens(["[MORE]"])
    assert further.vocab_size == ours.vocab_size + 1 and further.encode(TEXTS[3]) == ours.encode(TEXTS[3])


def test_a_cased_normalizer_counts_where_the_config_says_nothing(tmp_path):
    for number, config in enumerate(({}, {"tokenizer_class": "BertTokenizer"}, BACKEND)):
        fast = wordpiece(NORMALIZER(lowercase=False))
        tokenizer = Tokenizer.from_directory(write(tmp_path / str(number), fast, tokenizer_config=config))
        assert tokenizer.encode("World WORLD").tokens == fast.encode("World WORLD").tokens == UNKNOWN


LETTERS = "aAÀàé\u0301ßİix[]中한"
SIGNS = LETTERS + " \t\u200b\u2003"


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.text(LETTERS, min_size=1, max_size=4), min_size=1, max_size=3, unique=True),
    st.text(SIGNS, max_size=20),
    *[st.booleans() for _ in range(4)],
)
def test_any_added_token_in_any_text(tokens, text, lowercase, single_word, strip, normalized):
    strip = strip and not normalized  # `tokenizers` panics where a normalized token takes the space beside it
    options = {"single_word": single_word, "lstrip": strip, "rstrip": strip, "normalized": normalized}
    ours = Tokenizer(VOCAB, lowercase=lowercase, added_tokens=[AddedToken(token, **options) for token in tokens])
    if normalized:  # of two that become the same, `tokenizers` takes now one, now the other
        normal = NORMALIZER(lowercase=lowercase).normalize_str
        assume(len(set(map(normal, tokens))) == len(tokens))
    encoding = ours.encode(text)
    try:
        theirs = ours.fast().encode(text)
    except BaseException as error:
        assert type(error).__name__ == "PanicException"  # a fault of `tokenizers` with white space beside a token
        reject()
    assert (encoding.ids, encoding.words) == (theirs.ids, theirs.word_ids), (tokens, text)


SEP_ALONE = processors.TemplateProcessing("$A [SEP]", "$A $B [SEP]", [("[SEP]", 3)])
REFUSED = {
    "a normalizer of another kind": ("Sequence", {"normalizer": normalizers.Sequence([normalizers.NFD()])}),
    "another pre-tokenizer": ("Whitespace", {"pre_tokenizer": pre_tokenizers.Whitespace()}),
    "special tokens elsewhere": ("post_processor", {"post_processor": SEP_ALONE}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_another_algorithm_is_refused_by_name(name, tmp_path):
    word, options = REFUSED[name]
    with pytest.raises(ValueError, match=rf"tokenizer\.json.*{word}"):
        checkpoint.load_tokenizer(write(tmp_path, wordpiece(**options), tokenizer_config=BACKEND))


def test_wrong_files_are_refused_by_name(tmp_path):
    for number, (files, message) in enumerate(
        [
            ({"added_tokens": {"covid19": 99}}, "covid19.*99"),
            ({"added_tokens": {"covid19": "one"}}, "covid19.*one"),
            ({"added_tokens": {"hello": 99}}, "hello.*99"),
            ({"tokenizer_config": {"added_tokens_decoder": {"x": COVID}}}, "covid19.*x"),
            ({"tokenizer_config": {"added_tokens_decoder": {"22": {"content": 5}}}}, "special token"),
            ({"tokenizer_config": {"added_tokens_decoder": {"22": {**COVID, "lstrip": 7}}}}, "lstrip"),
            ({"tokenizer_config": {"bos_token": 7}}, "special token"),
            ({"special_tokens_map": {"pad_token": "<pad>"}}, "pad_token"),
            ({"tokenizer": {"model": "WordPiece"}}, "model"),
            ({"tokenizer": {"model": {"type": "Unigram"}}}, "Unigram"),
            ({"tokenizer": {"added_tokens": 5}}, "added_tokens"),
            ({"tokenizer": {"normalizer": {"type": "BertNormalizer", "lowercase": 5}}}, "lowercase"),
            ({"tokenizer": {"model": {"type": "WordPiece", "unk_token": "<unk>", "vocab": {}}}}, "unk_token"),
        ]
    ):
        with pytest.raises(ValueError, match=message):
            Tokenizer.from_directory(write(tmp_path / str(number), vocab=True, **files))


def test_a_byte_order_mark_is_no_part_of_the_first_piece(tmp_path):
    folder = write(tmp_path, vocab=True)
    (folder / "vocab.txt").write_bytes(b"\xef\xbb\xbf" + (folder / "vocab.txt").read_bytes())
    assert Tokenizer.from_directory(folder).vocab == VOCAB


def trained(kind, folder):
    """A tokenizer trained by a library on a few lines and saved by transformers; its texts."""
    lines = ["the Naïve café owner isn't amused", "北京 the film, the films", "a lower and a LOWER case"] * 20
    names = {f"{name}_token": f"[{name.upper()}]" for name in ("unk", "sep", "pad", "cls", "mask")}
    if kind == "BertWordPieceTokenizer":
        learned = BertWordPieceTokenizer(lowercase=False)
        learned.train_from_iterator(lines, vocab_size=120, min_frequency=1, show_progress=False)
        learned.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
        saved = transformers.PreTrainedTokenizerFast(tokenizer_object=learned._tokenizer, **names)
    elif kind == "train_new_from_iterator":
        saved = transformers.BertTokenizer(vocab={p: i for i, p in enumerate(VOCAB)}, do_lower_case=False)
        saved = saved.train_new_from_iterator(lines, vocab_size=120)
    elif kind == "WordPiece with Whitespace":
        fast = FastTokenizer(models.WordPiece(unk_token="[UNK]"))
        fast.pre_tokenizer = pre_tokenizers.Whitespace()
        trainer = trainers.WordPieceTrainer(vocab_size=120, special_tokens=list(SPECIAL_TOKENS), show_progress=False)
        fast.train_from_iterator(lines, trainer)
        saved = transformers.PreTrainedTokenizerFast(tokenizer_object=fast, **names)
    else:
        learned = ByteLevelBPETokenizer()
        five = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
        learned.train_from_iterator(lines, vocab_size=300, min_frequency=1, special_tokens=five, show_progress=False)
        described = json.loads(learned._tokenizer.to_str())["model"]
        merges = [tuple(pair) for pair in described["merges"]]
        saved = transformers.RobertaTokenizerFast(vocab=described["vocab"], merges=merges)
        saved.add_tokens(["covid19", AddedToken("Zoë", lstrip=True)])
    saved.save_pretrained(folder)
    model = {"byte-level": "roberta"}.get(kind, "bert")
    (folder / "config.json").write_text(json.dumps({"model_type": model}))
    return lines[:3]


@pytest.mark.parametrize("kind", ["BertWordPieceTokenizer", "train_new_from_iterator", "byte-level"])
def test_a_trained_tokenizer_cuts_as_transformers_does(kind, tmp_path):
    lines = trained(kind, tmp_path)
    ours, theirs = checkpoint.load_tokenizer(tmp_path), transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert_same(ours, theirs, [*lines, "a Zoë covid19 film"])
    ours.save(tmp_path / "again")
    assert checkpoint.load_tokenizer(tmp_path / "again").vocab == ours.vocab


def test_a_trained_tokenizer_of_another_kind_is_refused(tmp_path):
    trained("WordPiece with Whitespace", tmp_path)
    assert described_tokenizer(tmp_path)["normalizer"] is None
    with pytest.raises(ValueError, match=r"tokenizer\.json: its normalizer is null"):
        checkpoint.load_tokenizer(tmp_path)
