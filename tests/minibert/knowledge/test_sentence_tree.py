"""Facts beside a sentence: the paper's own figure by hand, who sees whom, and what stays as it is without facts."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from minibert import checkpoint
from minibert.config import BertConfig
from minibert.knowledge.sentence_tree import Fact, KnowledgeBase, cosine_change, mentions, read, sentence_tree
from minibert.model import Batch, Bert
from minibert.tokenizer import SPECIAL_TOKENS, Tokenizer
from tests.pages.driver import ROOT

LESSON = ROOT / "lessons" / "knowledge"
WORDS = ["tim", "cook", "is", "visiting", "beijing", "now", "ceo", "apple", "capital", "china", "is_a", "city"]
TOKENIZER = Tokenizer([*SPECIAL_TOKENS, *sorted({*WORDS, "_", "a"})])
BASE = KnowledgeBase(
    [Fact("Tim Cook", "CEO", "Apple"), Fact("Beijing", "capital", "China"), Fact("Beijing", "is a", "City")]
)
TEXT = "Tim Cook is visiting Beijing now"


def tree_of(text: str, base: KnowledgeBase = BASE, tokenizer: Tokenizer = TOKENIZER):
    encoding = tokenizer.encode(text)
    return sentence_tree(tokenizer, encoding, mentions(base, encoding, text))


def test_the_papers_figures_3_and_4_by_hand():
    tree = tree_of(TEXT)
    told = " ".join(tree.tokens)
    assert told == "[CLS] tim cook ceo apple is visiting beijing capital china is a city now [SEP]"
    assert tree.positions == (0, 1, 2, 3, 4, 3, 4, 5, 6, 7, 6, 7, 8, 6, 7)
    assert tree.branch == (0, 0, 0, 1, 1, 0, 0, 0, 2, 2, 3, 3, 3, 0, 0)
    assert tree.hangs_on == {1: (1, 2), 2: (7,), 3: (7,)}
    assert [str(fact) for fact in tree.facts] == ["Tim Cook CEO Apple", "Beijing capital China", "Beijing is a City"]
    seen, at = tree.visible(), {token: place for place, token in enumerate(tree.tokens)}
    assert torch.equal(seen, seen.T) and seen.diagonal().all()
    assert seen[at["apple"], [at["cook"], at["tim"], at["ceo"]]].all()
    assert not seen[at["apple"], [at["beijing"], at["[CLS]"]]].any()
    assert not seen[at["china"], [at["apple"], at["city"]]].any()
    assert seen[at["[CLS]"]].tolist() == [branch == 0 for branch in tree.branch]


def test_the_longest_name_is_taken_and_at_most_two_facts():
    many = KnowledgeBase([*BASE.facts, Fact("Cook", "is a", "city"), Fact("beijing", "is a", "third")])
    encoding = TOKENIZER.encode(TEXT)
    assert [(m.first, m.last, len(m.facts)) for m in mentions(many, encoding, TEXT)] == [(1, 2, 1), (5, 5, 2)]
    assert [(m.first, m.last) for m in mentions(many, TOKENIZER.encode("cook"), "cook")] == [(1, 1)]
    assert len(mentions(many, encoding, TEXT, most=3)[1].facts) == 3


@pytest.fixture(scope="module")
def bert():
    torch.manual_seed(0)
    config = BertConfig(TOKENIZER.vocab_size, 16, 1, 2, 32, max_position_embeddings=32, initializer_range=0.5)
    return Bert(config).eval()


def test_without_facts_it_is_bert(bert):
    tree, encoding = tree_of(TEXT, KnowledgeBase([])), TOKENIZER.encode(TEXT)
    with torch.no_grad():
        plain = bert(Batch(torch.tensor([encoding.ids])))[0][0]
    for matrix in (True, False):
        for soft in (True, False):
            assert torch.equal(read(bert, tree, matrix=matrix, soft=soft), plain)


def test_in_one_layer_only_the_subject_hears_of_a_fact(bert):
    alone, told = tree_of(TEXT, KnowledgeBase([])), tree_of(TEXT, KnowledgeBase([BASE.facts[1]]))
    subject = told.sentence.index(told.tokens.index("beijing"))
    turned = cosine_change(read(bert, alone), read(bert, told))
    assert turned[subject] > 1e-4
    others = torch.arange(len(turned)) != subject
    assert torch.allclose(turned[others], torch.zeros(len(turned) - 1), atol=1e-6)
    everywhere = cosine_change(read(bert, alone), read(bert, told, matrix=False, soft=False))
    assert (everywhere > 1e-6).all()


def test_a_chinese_name_is_found_among_its_characters():
    base = KnowledgeBase.read(LESSON / "facts.zh.tsv")
    tokenizer = checkpoint.load_tokenizer(ROOT / "checkpoints" / "mini-zh")
    text = "他住在黄浦江边。"
    encoding = tokenizer.encode(text)
    (mention,) = mentions(base, encoding, text)
    assert encoding.tokens[mention.first : mention.last + 1] == list("黄浦江")
    tree = sentence_tree(tokenizer, encoding, [mention])
    assert "".join(tree.tokens[i] for i, b in enumerate(tree.branch) if b) == "流经上海"


def test_facts_are_read_from_the_lesson_and_a_line_that_is_none_is_named(tmp_path):
    for language in ("en", "zh"):
        facts = KnowledgeBase.read(LESSON / f"facts.{language}.tsv").facts
        assert len(facts) == len(set(facts)) >= 90
    file = tmp_path / "facts.tsv"
    for line in ("one\ttwo", "one\t\tthree", "", "a\tb\tc\td"):
        file.write_text(f"a\tb\tc\n{line}\n", encoding="utf-8")
        with pytest.raises(ValueError, match=r"facts\.tsv, line 2"):
            KnowledgeBase.read(file)


@settings(max_examples=60)
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12))
def test_the_sentence_stays_in_the_tree(words):
    text = " ".join(words)
    encoding, tree = TOKENIZER.encode(text), tree_of(text)
    assert [tree.ids[at] for at in tree.sentence] == encoding.ids
    assert [tree.positions[at] for at in tree.sentence] == list(range(len(encoding)))
    seen = tree.visible()
    for number, subject in tree.hangs_on.items():
        own = [at for at, branch in enumerate(tree.branch) if branch == number]
        assert all(set(seen[at].nonzero().flatten().tolist()) == {*own, *subject} for at in own)
        first = tree.positions[subject[-1]]
        assert [tree.positions[at] for at in own] == list(range(first + 1, first + 1 + len(own)))
