"""SemBERT: against torch's GRU cell and sums by hand; the roles of the toy world against the grammar that wrote it."""

import pytest
import torch
import torch.nn.functional as F

from minibert.config import BertConfig
from minibert.model import IGNORE, Batch, Bert
from minibert.relatives.parts.semantic_roles import RolesBatch, RoleVectors, SemBert, WordVectors
from minibert.tokenizer import Tokenizer
from minibert.toy import roles_task
from minibert.toy.pronoun_task import tagged
from minibert.toy.roles import parse, predicates, role_rows, words_in
from minibert.toy.roles_task import MEANT, RolesSettings, batch_of, role_example, train_roles
from minibert.toy.world import stories, vocabulary
from minibert.train import Done, Eval, Sample
from tests.pages.driver import ROOT

START = ROOT / "checkpoints" / "unilm-toy" / "bert"


def test_words_are_the_largest_of_their_own_pieces_only():
    """ReLU(W [x_{i−1}; x_i; x_{i+1}] + b) with zeros outside the word, and the largest of each number."""
    torch.manual_seed(0)
    part, x = WordVectors(4).double(), torch.randn(1, 6, 4, dtype=torch.float64)
    found = part(x, torch.tensor([[IGNORE, 0, 1, 1, 1, IGNORE]]))
    for word, own in ((0, x[:, 1:2]), (1, x[:, 2:5])):
        each = F.conv1d(own.transpose(1, 2), part.conv.weight, part.conv.bias, padding=1)
        assert torch.allclose(found[0, word], each[0].relu().amax(1), atol=1e-12)


def test_roles_are_read_by_torchs_gru_from_both_sides_and_joined():
    """Each row alone, without its padding."""
    torch.manual_seed(0)
    part = RoleVectors(roles=5, predicates=2, size=3, hidden=4, out=6).double()
    roles = torch.tensor([[[1, 2, 0], [0, 3, 4]], [[2, 1, IGNORE], [4, 4, IGNORE]]])
    found = part(roles)
    assert part.gru.bidirectional
    for row, length in ((0, 3), (1, 2)):
        read = [part.gru(part.embedding(one[:length]))[0] for one in roles[row]]
        joined = torch.cat(read, -1) @ part.join.weight.T + part.join.bias
        assert torch.allclose(found[row, :length], joined, atol=1e-9)


@pytest.mark.parametrize("roles", [5, 0])
def test_both_vectors_stand_side_by_side(roles):
    torch.manual_seed(0)
    bert = Bert(BertConfig(30, 8, 1, 2, 16, max_position_embeddings=12))
    model = SemBert(bert, classes=3, roles=roles, predicates=1, out=6).eval()
    ids, words, labels = [[2, 7, 8, 9, 3]], [[IGNORE, 0, 1, 1, IGNORE]], [[IGNORE, 2]]
    ids, words, labels, read = (torch.tensor(rows) for rows in (ids, words, labels, [[[1, 2]]]))
    seen = {}
    out = model(RolesBatch(ids, words=words, roles=read, labels=labels), tap=lambda name, x: seen.setdefault(name, x))
    assert torch.equal(seen["joined"][..., :8], model.words(bert(Batch(ids))[0], words))
    assert seen["joined"].size(-1) == (14 if roles else 8)
    assert not roles or torch.equal(seen["joined"][..., 8:], model.roles(read))
    assert out.loss.item() == pytest.approx(F.cross_entropy(out.logits[0, 1], torch.tensor(2)).item(), abs=1e-6)


def test_the_parser_finds_what_the_grammar_meant():
    for world in ("small", "whole"):
        for story in stories(60, 5, world):
            start = 0
            for words in (sentence.words for sentence in story.sentences):
                found = parse([word.text for word in words])
                assert found.heads == tuple(None if word.head is None else word.head - start for word in words)
                assert found.relations == tuple(word.relation for word in words)
                start += len(words)


def test_who_does_what_to_whom():
    for text, rows in (
        ("soon anna gave the ball to ben.", "TMP A0 V A1 A1 A2 A2 –"),
        ("while tom slept, david made himself a hot pie.", "– A0 V – – – – – – – – | – – – – A0 V A2 A1 A1 A1 –"),
        ("anna was sad, so she cried.", "A1 V A2 – – – – – | – – – – – A0 V –"),
        ("anna saw herself in the lake and danced.", "A0 V A1 LOC LOC LOC – – – | A0 – – – – – – V –"),
    ):
        found = [" ".join(roles) for roles in predicates(parse(words_in(text)))]
        assert " | ".join(found).replace("none", "–") == rows


def test_what_is_not_of_the_world_is_named():
    for text, why in (("anna saw a wug.", "no word 'wug'"), ("anna.", "has no verb"), ("anna saw to.", "not built as")):
        with pytest.raises(ValueError, match=why):
            role_rows(words_in(text))


def test_a_texts_words_roles_and_answers_stand_beside_each_other():
    story, tokenizer = stories(1, 4, "small")[0], Tokenizer(vocabulary())
    text = role_example(story, 200)
    batch = batch_of([text, role_example(story, 12)], tokenizer)
    assert batch.ids[0, 1:-1].tolist() == [tokenizer.ids[word] for word in text.words]
    assert batch.words[0, 1:-1].tolist() == list(range(len(text.words)))
    assert batch.roles.shape == (2, 2, len(text.words)) and (batch.roles[0] >= 0).all()
    tags = [IGNORE if tag == "O" else MEANT.index(tag[2:]) for tag in tagged(story).tags]
    assert tags == batch.labels[0].tolist()


@pytest.mark.parametrize("roles", [True, False])
def test_it_learns_and_speaks_of_the_readers_text(roles):
    settings = RolesSettings(4, roles, stories=20, held_out=10, evaluate_every=2)
    events = list(train_roles(settings, START, probe_inputs=["anna met ben. he helped her.", "what?"]))
    evals = [event for event in events if isinstance(event, Eval)]
    assert [event.step for event in evals] == [0, 2, 4] and isinstance(events[-1], Done)
    assert all(0 <= event.metrics["meant"] <= 1 and event.metrics["commonest"] < 1 for event in evals)
    last, strange = [event for event in events if isinstance(event, Sample)][-1].answers
    assert last["words"][4] == "he" and sum(last["shares"][4]) == pytest.approx(1, abs=1e-3)
    assert strange["words"] == []


def test_who_trains_on_other_words_roles_is_asked_with_them(monkeypatch):
    read = []
    monkeypatch.setattr(
        roles_task, "batch_of", lambda texts, tokenizer: read.append(texts) or batch_of(texts, tokenizer)
    )
    settings = RolesSettings(1, shuffled=True, stories=20, held_out=10, evaluate_every=1)
    list(train_roles(settings, START, probe_inputs=["anna met ben."]))
    (asked,) = read[-1]
    right = list(map(tuple, role_rows(asked.words)))
    assert asked.words == ("anna", "met", "ben", ".") and list(asked.roles) != right
    assert sorted(zip(*asked.roles, strict=True)) == sorted(zip(*right, strict=True))


def test_settings_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="steps must be at least 1"):
        RolesSettings(0)
