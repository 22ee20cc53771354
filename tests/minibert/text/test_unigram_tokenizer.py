"""The unigram model against ALBERT's tokenizer in transformers, on any text."""

import json
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, processors, trainers
from transformers import AlbertTokenizer, AutoTokenizer

from minibert import checkpoint
from minibert.checkpoint import CheckpointError
from minibert.finetune.predictor import Predictor
from minibert.relatives import build
from minibert.relatives.albert import AlbertConfig
from minibert.text.unigram_tokenizer import SPECIAL_TOKENS, UnigramTokenizer
from minibert.toy.world import documents
from tests.minibert.finetune.runs import run

HARD = [
    "don't ``quoted''",
    "  two  spaces ",
    "a\n\nb\t c",
    "Naïve café",
    "你吃了吗？",
    "x²+½=Ⅷ",
    "e\u0301",
    "\u00a0a\u3000b",
]
HARD += ["the [MASK] barked", "a[SEP]b", "[MASK]", "", " ", "<unk> ☃", "zzzqqq"]


@pytest.fixture(scope="module")
def theirs():
    learner = Tokenizer(models.Unigram())
    usual = AlbertTokenizer().backend_tokenizer
    learner.normalizer, learner.pre_tokenizer = usual.normalizer, usual.pre_tokenizer
    texts = [line for story in documents(60, 3) for line in story] + HARD[:7]
    learner.train_from_iterator(
        texts, trainers.UnigramTrainer(vocab_size=300, special_tokens=[*SPECIAL_TOKENS], unk_token="<unk>")
    )
    return AlbertTokenizer(vocab=[tuple(one) for one in json.loads(learner.to_str())["model"]["vocab"]])


@pytest.fixture(scope="module")
def folder(theirs, tmp_path_factory):
    return str(theirs.save_pretrained(tmp_path_factory.mktemp("unigram"))[0].rpartition("/")[0])


@pytest.fixture(scope="module")
def ours(folder):
    tokenizer = checkpoint.load_tokenizer(folder)
    assert isinstance(tokenizer, UnigramTokenizer)
    return tokenizer


def same(ours, theirs, *texts):
    one, other = ours.encode(*texts), theirs(*texts, return_offsets_mapping=True, return_token_type_ids=True)
    assert one.ids == other["input_ids"], texts
    assert one.offsets == [tuple(pair) for pair in other["offset_mapping"]], texts
    assert one.segments == other["token_type_ids"], texts


@settings(max_examples=300)
@given(st.text(st.characters(exclude_categories=("Cs", "Cn")), max_size=40))
def test_of_any_text_and_pair(ours, theirs, text):
    same(ours, theirs, text)
    same(ours, theirs, text, "she found it")
    assert ours.encode_bulk([text]) == [ours.encode(text, add_special=False).ids]


def test_hard_texts_special_tokens_and_truncation(ours, theirs):
    for text in HARD:
        same(ours, theirs, text)
    marked = ours.encode("anna ☃ [MASK] <unk>")
    assert [token for token, special in zip(marked.tokens, marked.special, strict=True) if special] == [
        "[CLS]",
        "[MASK]",
        "<unk>",  # written as a token; the word that became one is none
        "[SEP]",
    ]
    assert marked.tokens.count("<unk>") == 2 and marked.words[-1] is None
    assert ours.encode("anna lost the box", "she found it").ids[-1] == ours.sep_id
    assert len(ours.encode("anna lost it " * 9, "she found it", max_length=16)) == 16
    assert ours.decode(ours.encode("anna lost it").ids, skip_special=True) == "anna lost it"


def test_it_is_saved_and_read_again_with_a_token_of_ones_own(ours, tmp_path):
    more = ours.with_special_tokens(["[CAT=A]"])
    more.save(tmp_path)
    for again in (checkpoint.load_tokenizer(tmp_path), pickle.loads(pickle.dumps(more))):
        assert again.vocab == [*ours.vocab, "[CAT=A]"] and again.rules == more.rules
    text = "[CAT=A] anna lost it"
    assert AutoTokenizer.from_pretrained(tmp_path)(text)["input_ids"] == again.encode(text).ids
    assert "[CAT=A]" not in ours.ids


@pytest.mark.trains
@pytest.mark.parametrize("task", ["tagging", "span"])  # which find words and answers by their places in the text
def test_a_model_that_reads_with_it_learns_a_task(ours, tmp_path, task):
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = AlbertConfig(vocab_size=ours.vocab_size, embedding_size=8, max_position_embeddings=32, **sizes)
    checkpoint.save(tmp_path / "start", build(config), ours)
    run(tmp_path / "start", task, out=tmp_path / "learned")
    assert Predictor.from_directory(tmp_path / "learned").tokenizer.vocab == ours.vocab


def test_other_places_of_special_tokens_and_a_model_file_alone_are_refused(ours, folder, tmp_path):
    xlnet = Tokenizer.from_str(ours.fast().to_str())
    ends = [("[SEP]", ours.sep_id), ("[CLS]", ours.cls_id)]
    xlnet.post_processor = processors.TemplateProcessing("$A [SEP] [CLS]", "$A [SEP] $B:1 [SEP]:1 [CLS]:2", ends)
    xlnet.save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(ValueError, match="special tokens"):
        checkpoint.load_tokenizer(tmp_path)
    (tmp_path / "tokenizer.json").rename(tmp_path / "spiece.model")
    with pytest.raises(CheckpointError, match=r"spiece\.model"):
        checkpoint.load_tokenizer(tmp_path)
