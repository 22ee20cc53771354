"""Soft-Masked BERT, its formula worked by hand, and what it is given to correct."""

from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from minibert import checkpoint
from minibert.config import BertConfig
from minibert.masking.misspelling import (
    CorrectionCounts,
    Misspeller,
    confusable_words,
    correction_labels,
    edits,
    read_confusions,
)
from minibert.model import IGNORE, Batch, BertForPreTraining
from minibert.seq2seq.corrector import Corrector, soft_masked
from minibert.text.documents import DataError
from minibert.tokenizer import Tokenizer
from minibert.toy.corrections import CorrectorSettings, correction_sample, train_corrector
from minibert.toy.world import vocabulary
from minibert.train import Eval, Sample

ROOT = Path(__file__).parents[3]
MASK = 4


def random_model(vocab_size: int = 20) -> BertForPreTraining:
    torch.manual_seed(0)
    sizes = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "initializer_range": 0.3}
    return BertForPreTraining(BertConfig(vocab_size, 16, 2, 2, 32, max_position_embeddings=24, **sizes)).eval()


@torch.no_grad()
def test_the_whole_of_it_step_by_step():
    corrector = Corrector(random_model(), MASK).eval()
    model, ids = corrector.model, torch.tensor([[2, 9, 7, 5, 3], [2, 8, 3, 0, 0]])
    padding, right = ids != 0, torch.tensor([[2, 9, 6, 5, 3], [2, 8, 3, 0, 0]])
    labels = correction_labels(right, (right == 2) | (right == 3) | ~padding)
    output = corrector(Batch(ids, padding=padding, labels=labels))
    table = model.bert.embeddings
    places, segment = table.position.weight[:5], table.segment.weight[0]
    e = table.norm(table.token(ids) + places + segment)
    m = table.norm(table.token.weight[MASK] + places + segment).expand_as(e)
    p = corrector.detector(e, padding).sigmoid()
    assert torch.allclose(output.suspicion.sigmoid(), p, atol=1e-6)
    x = soft_masked(e, m, p)
    assert torch.allclose(x, p[..., None] * m + (1 - p[..., None]) * e, atol=1e-6)
    for block in model.bert.blocks:
        x = block(x, padding[:, None, None, :])
    logits = model.mlm(x + e)
    there = labels != IGNORE
    assert there.sum() == 4 and torch.allclose(output.logits[padding], logits[padding], atol=1e-5)
    correction = F.cross_entropy(logits[there], labels[there])
    detection = F.binary_cross_entropy(p[there], torch.tensor([0.0, 1.0, 0.0, 0.0]))  # of 9 7 5 and 8, the second
    assert output.loss.item() == pytest.approx((0.8 * correction + 0.2 * detection).item(), abs=1e-5)


@torch.no_grad()
def test_certain_it_reads_mask_or_nothing_else_than_bert():
    model, ids = random_model(), torch.tensor([[2, 9, 7, 5, 3]])
    corrector = Corrector(model, MASK).eval()
    corrector.detector.out.weight.zero_()
    table = model.bert.embeddings
    e = table.norm(table.token(ids) + table.position.weight[:5] + table.segment.weight[0])
    for bias, read in ((-50.0, ids), (50.0, torch.full_like(ids, MASK))):
        corrector.detector.out.bias.fill_(bias)
        assert torch.allclose(corrector(Batch(ids)).logits, model.mlm(model.bert(Batch(read))[0] + e), atol=1e-5)
    plain = Corrector(model, MASK, detector=False)(Batch(ids))
    assert plain.suspicion is None and torch.allclose(plain.logits, model.mlm(model.bert(Batch(ids))[0]), atol=1e-5)


def test_padding_changes_nothing():
    corrector = Corrector(random_model(), MASK).eval()
    alone = corrector(Batch(torch.tensor([[2, 9, 7, 3]])))
    ids = torch.tensor([[2, 9, 7, 3, 0, 0], [2, 5, 5, 5, 5, 3]])
    both = corrector(Batch(ids, padding=ids != 0))
    assert torch.allclose(alone.logits[0], both.logits[0, :4], atol=1e-5)
    assert torch.allclose(alone.suspicion[0], both.suspicion[0, :4], atol=1e-5)


@pytest.mark.parametrize("detector", [True, False])
def test_a_batch_without_any_label_has_no_loss(detector):
    ids = torch.tensor([[2, 9, 7, 3]])
    output = Corrector(random_model(), MASK, detector)(Batch(ids, labels=torch.full_like(ids, IGNORE)))
    output.loss.backward()
    assert output.loss == output.correction_loss == 0


def test_edits():
    for a, b, n in (("ball", "ball", 0), ("ball", "bell", 1), ("form", "from", 1), ("kitten", "sitting", 3)):
        assert edits(a, b) == edits(b, a) == n


def test_words_that_are_spelled_alike():
    alike = confusable_words([word for word in vocabulary() if len(word) in (4, 6, 7)])
    assert "bell" in alike["ball"] and "boat" in alike["coat"] and "[MASK]" not in alike
    assert all(word in alike[other] for word, others in alike.items() for other in others)


def test_the_chinese_table(tmp_path):
    alike = read_confusions(ROOT / "lessons" / "to_write" / "alike.zh.tsv")
    assert "再" in alike["在"] and "末" in alike["未"] and all(len(one) == 1 for one in alike)
    vocab = Tokenizer.from_directory(ROOT / "checkpoints" / "mini-zh").ids
    assert sum(one in vocab for one in alike) > 0.95 * len(alike)
    bad = tmp_path / "bad.tsv"
    bad.write_text("sound\t在再\nlooks\t未末\n", encoding="utf-8")
    with pytest.raises(DataError, match="line 2"):
        read_confusions(bad)


def test_a_share_of_what_can_be_taken_for_another_is():
    speller = Misspeller({5: [6], 6: [5]}, [5, 6, 7], rate=0.25, any=0.0)
    rng = torch.Generator().manual_seed(0)
    row = speller.misspell([5, 8] * 4_000, rng)
    assert row[1::2] == [8] * 4_000 and set(row[::2]) == {5, 6}
    assert row[::2].count(6) / 4_000 == pytest.approx(0.25, abs=0.03)


def test_sentences_are_right_as_a_whole():
    found = CorrectionCounts()
    for read, said, right in (
        ([1, 2, 3], [1, 9, 3], [1, 9, 3]),  # found and corrected
        ([1, 2, 3], [1, 8, 3], [1, 9, 3]),  # found, corrected wrongly
        ([1, 2, 3], [1, 2, 3], [1, 9, 3]),  # missed
        ([1, 2, 3], [1, 2, 7], [1, 2, 3]),  # a false alarm
        ([1, 2, 3], [1, 2, 3], [1, 2, 3]),  # left in peace
    ):
        found = found.add(read, said, right)
    assert (found.detected, found.corrected, found.wrong, found.marked) == (2, 1, 3, 3)
    assert found.as_dict() == {"detection_f1": 4 / 6, "correction_f1": 2 / 6, "sentences_right": 2 / 5}


@pytest.mark.parametrize("kind", ["soft_masked", "plain"])
def test_it_learns_is_saved_and_comes_back(kind, tmp_path):
    tokenizer = Tokenizer(vocabulary())
    checkpoint.save(tmp_path / "bert", random_model(tokenizer.vocab_size), tokenizer)
    settings = CorrectorSettings(kind, steps=4, batch_size=4, stories=20, held_out=6, evaluate_every=2, longest=24)
    events = list(
        train_corrector(settings, tmp_path / "bert", out=tmp_path / "out", probe_inputs=["anna found the bell."])
    )
    marks = [event.metrics for event in events if isinstance(event, Eval)]
    assert len(marks) == 3 and set(marks[0]) == {"detection_f1", "correction_f1", "sentences_right"}
    said = [event.answers[0] for event in events if isinstance(event, Sample)][-1]
    assert said["tokens"] == ["anna", "found", "the", "bell", "."] and (said["suspicion"] is None) == (kind == "plain")
    again, vocab = Corrector.load(tmp_path / "out" / "corrector")
    assert (again.detector is None) == (kind == "plain")
    now = correction_sample(again, vocab, "anna found the bell.")
    assert now["said"][0][0][1] == pytest.approx(said["said"][0][0][1], abs=0.02)


def test_too_few_sentences_to_hold_some_out_are_refused(tmp_path):
    tokenizer = Tokenizer(vocabulary())
    checkpoint.save(tmp_path, random_model(tokenizer.vocab_size), tokenizer)
    settings, sentence = CorrectorSettings(steps=1, held_out=6, longest=24), "anna found the bell."
    for sentences in ([sentence] * 6, [*[" ".join([sentence] * 9)] * 6, *[sentence] * 6]):
        with pytest.raises(ValueError, match="are too few: 6 are held out"):
            list(train_corrector(settings, tmp_path, sentences=sentences))


def test_other_settings_are_refused():
    with pytest.raises(ValueError, match="one of soft_masked, plain"):
        CorrectorSettings("hard")
    with pytest.raises(ValueError, match="steps"):
        CorrectorSettings(steps=0)
