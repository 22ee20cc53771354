"""ERNIE of Tsinghua and TransE: the formulas by hand on tiny cases, what is replaced and hidden by how often."""

import pytest
import torch
import torch.nn.functional as F

from minibert import checkpoint
from minibert.config import BertConfig
from minibert.knowledge.transe import Graph, Translations, corrupted, learn, margin_loss
from minibert.model import IGNORE, BertForPreTraining
from minibert.relatives.parts.entity_fusion import Aggregator, AlignedBatch, ErnieThu, Fusion, noisy
from minibert.tokenizer import Tokenizer
from minibert.toy import entities_task, pronoun_probe
from minibert.toy.entities_task import EntitySettings, aligned, train_entities
from minibert.toy.graph import toy_graph
from minibert.toy.world import vocabulary
from minibert.train import Done, Eval, Sample
from tests.pages.driver import ROOT

TOKENIZER = Tokenizer(vocabulary())


@pytest.fixture
def learner():
    """A function: how many layers → a learner of five entities."""

    def made(layers: int = 1) -> ErnieThu:
        torch.manual_seed(0)
        model = BertForPreTraining(BertConfig(30, 8, 1, 2, 16, max_position_embeddings=12))
        return ErnieThu(model, torch.randn(5, 4), layers).eval()

    return made


def test_a_batch_without_any_label_has_no_loss(learner):
    ids = torch.randint(30, (2, 5))
    nothing = torch.full_like(ids, IGNORE)
    output = learner()(AlignedBatch(ids, labels=nothing, entities=nothing, named=nothing))
    assert output.mlm_loss == 0 and output.entity_loss == 0


def test_a_word_and_its_entity_are_fused_by_the_formula():
    torch.manual_seed(0)
    part = Fusion(3, 2, 4).double()
    w, e = torch.randn(1, 2, 3, dtype=torch.float64), torch.randn(1, 2, 2, dtype=torch.float64)
    found_w, found_e = part(w, e, torch.tensor([[True, False]]))
    named = F.gelu(part.from_token(w[0, 0]) + part.from_entity(e[0, 0]))
    unnamed = F.gelu(part.from_token(w[0, 1]))
    assert torch.allclose(found_w[0], F.gelu(part.to_token(torch.stack([named, unnamed]))), atol=1e-12)
    assert torch.allclose(found_e[0, 0], F.gelu(part.to_entity(named)), atol=1e-12) and not found_e[0, 1].any()


def test_tokens_attend_to_tokens_and_entities_to_entities():
    torch.manual_seed(0)
    part = Aggregator(BertConfig(30, 8, 1, 2, 16, max_position_embeddings=12), 4).eval()
    named = torch.tensor([[True, False, True]])
    w, e = torch.randn(1, 3, 8), torch.randn(1, 3, 4) * named[..., None]
    out_w, out_e = part(w, e, named, None)
    w1 = part.token_norms[0](w + part.tokens(w))
    pair = e[:, [0, 2]]  # the entities by themselves
    e1 = part.entity_norms[0](pair + part.entities(pair))
    spread = torch.zeros(1, 3, 4)
    spread[:, [0, 2]] = e1
    fused_w, fused_e = part.fusion(w1, spread, named)
    assert torch.allclose(out_w, part.token_norms[1](w1 + fused_w), atol=1e-6)
    assert torch.allclose(out_e[:, [0, 2]], part.entity_norms[1](e1 + fused_e[:, [0, 2]]), atol=1e-6)
    assert (out_e[:, 1] == 0).all()
    w, e, named = torch.cat([w, torch.randn(1, 1, 8)], 1), F.pad(e, (0, 0, 0, 1)), F.pad(named, (0, 1))
    padded, _ = part(w, e, named, torch.tensor([[True, True, True, False]]))
    assert torch.allclose(padded[:, :3], out_w, atol=1e-6)


@pytest.mark.parametrize("layers", [1, 2])
def test_what_an_entity_tells_reaches_other_words_in_the_next_layer(learner, layers):
    ids, none = torch.tensor([[2, 7, 8, 3]]), torch.full((1, 4), IGNORE)
    entities = torch.tensor([[IGNORE, 3, IGNORE, IGNORE]])
    bare, told = (learner(layers)(AlignedBatch(ids, entities=given)) for given in (none, entities))
    moved = (bare.tokens - told.tokens).abs().amax(-1)[0]
    assert moved[1] > 1e-4 and (moved[2] > 1e-6) == (layers > 1)


def test_its_two_losses_are_cross_entropies(learner):
    learner, ids = learner(), torch.tensor([[2, 7, 8, 3]])
    named, labels = torch.tensor([[IGNORE, 3, IGNORE, IGNORE]]), torch.tensor([[IGNORE, IGNORE, 9, IGNORE]])
    out = learner(AlignedBatch(ids, labels=labels, entities=named, named=named))
    logits = learner.entities @ learner.name(out.tokens[0, 1])
    assert torch.allclose(out.entity_logits[0, 1], logits, atol=1e-5)
    assert out.entity_loss.item() == pytest.approx(F.cross_entropy(logits, torch.tensor(3)).item(), abs=1e-5)
    assert out.mlm_loss.item() == pytest.approx(F.cross_entropy(out.mlm_logits[0], torch.tensor(9)).item(), abs=1e-5)


def test_five_percent_are_replaced_and_fifteen_hidden():
    entities = torch.full((200, 100), IGNORE)
    entities[:, ::2] = torch.randint(9, (200, 50), generator=torch.Generator().manual_seed(1))
    batch = noisy(AlignedBatch(torch.zeros_like(entities), entities=entities), 9, torch.Generator().manual_seed(0))
    named = entities != IGNORE
    assert torch.equal(batch.named, entities) and (batch.entities[~named] == IGNORE).all()
    masked, kept = (batch.entities == IGNORE) & named, (batch.entities == entities) & named
    replaced = named & ~masked & ~kept
    assert masked.sum() / named.sum() == pytest.approx(0.15, abs=0.01)
    assert replaced.sum() / named.sum() == pytest.approx(0.05, abs=0.01)
    assert set(batch.entities[replaced].tolist()) == set(range(9))


def test_the_margin_by_hand():
    e = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    found = Translations(e, torch.tensor([[-1.0, 1.0]]))
    true, false = torch.tensor([[0, 0, 1]]), torch.tensor([[0, 0, 2]])
    assert found.distance(true).item() == 0 and found.distance(false).item() == pytest.approx(0.4**0.5)
    assert margin_loss(found.distance(true), found.distance(false)).item() == pytest.approx(1 - 0.4**0.5)
    assert margin_loss(torch.tensor([0.5, 0.0]), torch.tensor([0.2, 3.0])).item() == pytest.approx(1.3 / 2)
    assert found.ranks(true).tolist() == [1] and found.ranks(false).tolist() == [2]


def test_one_side_gives_way_and_never_to_itself():
    triples = torch.tensor([[0, 0, 1]] * 400)
    false = corrupted(triples, 4, torch.Generator().manual_seed(0))
    changed = false != triples
    assert (changed.sum(1) == 1).all() and not changed[:, 1].any() and changed[:, 0].any() and changed[:, 2].any()
    assert set(false[:, 0].tolist()) == {0, 1, 2, 3}


def test_facts_of_a_small_graph_are_learned():
    graph = Graph(tuple((f"s{n}", "is", f"o{n % 3}") for n in range(9)))
    assert graph.entities[:2] == ("s0", "o0") and graph.relations == ("is",)
    found = learn(graph, 8, seed=1)
    assert torch.allclose(found.entities.norm(dim=-1), torch.ones(12), atol=1e-5)
    assert (found.ranks(graph.numbers) == 1).all()
    assert torch.equal(found.entities, learn(graph, 8, seed=1).entities)


def test_every_entity_of_the_world_is_a_word_and_aligned_with_it():
    graph = toy_graph()
    assert set(graph.entities) <= set(TOKENIZER.vocab) and len(set(graph.triples)) == len(graph.triples)
    batch = aligned([TOKENIZER.encode("anna was tired.").ids], TOKENIZER, graph)
    names = [graph.entities[n] if n >= 0 else None for n in batch.entities[0].tolist()]
    assert names == [None, "anna", None, "tired", None, None]


def test_it_learns_and_speaks_of_the_readers_text(monkeypatch):
    monkeypatch.setattr(entities_task, "MOST_ASKED", 60)
    settings = EntitySettings(4, stories=20, held_out=10, evaluate_every=2)
    start = ROOT / "checkpoints" / "unilm-toy" / "bert"
    events = list(train_entities(settings, start, probe_inputs=["anna was tired.", "猫 <b>"]))
    evals = [event for event in events if isinstance(event, Eval)]
    assert [event.step for event in evals] == [0, 2, 4] and isinstance(events[-1], Done)
    names = "masked masked_unread replaced mlm mlm_without strangers friends"
    assert set(evals[0].metrics) == set(names.split())
    assert all(0 <= share <= 1 for event in evals for share in event.metrics.values())
    one, strange = [event for event in events if isinstance(event, Sample)][-1].answers
    assert one["entities"] == ["anna", None, "tired", None]
    assert [said is not None for said in one["said"]] == [True, False, True, False] and len(one["said"][0]) == 3
    assert not any(strange["said"])


def test_settings_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="entity must be at least 1"):
        EntitySettings(entity=0)
    with pytest.raises(ValueError, match="what is told is one of all, no_naming, nothing, not '<b>'"):
        EntitySettings(told="<b>")


def test_a_frozen_bert_that_has_read_no_name_learns_no_word_of_strangers():
    """Its weights stay, but for the vectors that it forgets; and no row that it learns from has a stranger."""
    start = checkpoint.load(ROOT / "checkpoints" / "unilm-toy" / "bert")
    before = {name: weight.clone() for name, weight in start.state_dict().items()}
    pronoun_probe.reset_names(start, TOKENIZER)
    people = {TOKENIZER.ids[name] for name in pronoun_probe.PEOPLE}
    changed = {name for name, weight in start.state_dict().items() if not torch.equal(weight, before[name])}
    assert changed == {"bert.embeddings.token.weight", "mlm.decoder.weight", "mlm.decoder.bias"}
    same = (start.bert.embeddings.token.weight == before["bert.embeddings.token.weight"]).all(1)
    assert set((~same).nonzero().flatten().tolist()) == people and len(people) == 20


def test_pronouns_are_asked_where_one_person_is_named_and_nothing_else_tells():
    rows = [
        TOKENIZER.encode(text).ids
        for text in (
            "sofia was a clever girl. soon she slept.",
            "anna met ben. she was tired.",
            "ben was tired, so he slept.",
            "it was a good day.",
        )
    ]
    asked = pronoun_probe.questions(rows, TOKENIZER)
    assert [(TOKENIZER.vocab[one.ids[one.place]], one.stranger) for one in asked] == [("she", True), ("he", False)]
    hidden = pronoun_probe.gendered(torch.tensor([rows[0]]), TOKENIZER)[0].tolist()
    assert [TOKENIZER.vocab[i] for i, gone in zip(rows[0], hidden, strict=True) if gone] == ["girl", "she"]
    logits = torch.zeros(2, TOKENIZER.vocab_size)
    logits[:, TOKENIZER.ids["she"]] = 1.0
    assert pronoun_probe.pronoun_accuracy(asked, logits, TOKENIZER) == {"strangers": 1.0, "friends": 0.0}
