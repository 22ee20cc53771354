"""The encoder–decoder against torch's own, its masks, its task, and that it learns."""

import json
import random

import pytest
import torch
from torch import nn

from minibert.attention_masks import causal_mask
from minibert.checkpoint import CheckpointError
from minibert.config import BertConfig
from minibert.model import IGNORE
from minibert.seq2seq.decoder import PairBatch
from minibert.text.position_vectors import sinusoids
from minibert.toy import seq2seq
from minibert.toy.seq2seq import BOS, EOS, PAD, UNK, EncoderDecoder, Sentences, Seq2SeqSettings, Trained, Words
from minibert.train import Done, Eval, Sample, Started

NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
SIZES = {"max_position_embeddings": 20, "hidden_act": "relu", "layer_norm_eps": 1e-5}
CONFIG = BertConfig(31, 24, 2, 3, 40, **SIZES, **NO_DROPOUT)
WORDS = Words.of(["ant", "bee", "cat", "dog", "elk", "fox"])


def perturbed(config: BertConfig) -> EncoderDecoder:
    """No weight at its initial constant, so that a swapped bias or LayerNorm shows."""
    torch.manual_seed(0)
    model = EncoderDecoder(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.1 * torch.randn(weight.shape))
    return model


def attention_to(theirs: nn.MultiheadAttention, ours) -> None:
    theirs.in_proj_weight.copy_(torch.cat([p.weight for p in (ours.query, ours.key, ours.value)]))
    theirs.in_proj_bias.copy_(torch.cat([p.bias for p in (ours.query, ours.key, ours.value)]))
    theirs.out_proj.load_state_dict(ours.output.state_dict())


@torch.no_grad()
def torchs(model: EncoderDecoder) -> nn.Transformer:
    """torch's Transformer with our weights. (It has a LayerNorm at the end of each side, which the paper has not.)"""
    c = model.config
    theirs = nn.Transformer(
        c.hidden_size,
        c.num_attention_heads,
        c.num_hidden_layers,
        c.num_hidden_layers,
        c.intermediate_size,
        dropout=0.0,
        batch_first=True,
        norm_first=False,
    ).eval()
    theirs.encoder.norm = theirs.decoder.norm = None
    for side in ("encoder", "decoder"):
        for ours, their in zip(getattr(model, side), getattr(theirs, side).layers, strict=True):
            attention_to(their.self_attn, ours.attn)
            norms = [ours.attn_norm, ours.mlp_norm]
            if side == "decoder":
                attention_to(their.multihead_attn, ours.cross)
                norms.insert(1, ours.cross_norm)
            their.linear1.load_state_dict(ours.mlp.expand.state_dict())
            their.linear2.load_state_dict(ours.mlp.contract.state_dict())
            for number, norm in enumerate(norms, 1):
                getattr(their, f"norm{number}").load_state_dict(norm.state_dict())
    return theirs


def test_logits_equal_torchs_transformer():
    """Which sees a target word that looks ahead, a source word that does not count, and padding that does."""
    rng = torch.Generator().manual_seed(1)
    ids, target = (torch.randint(CONFIG.vocab_size, (3, length), generator=rng) for length in (7, 6))
    batch = PairBatch(ids, padding=torch.arange(7) < torch.tensor([[7], [5], [3]]), target=target)
    model = perturbed(CONFIG)
    theirs, hidden = torchs(model), ~batch.padding
    masks = {"tgt_mask": ~causal_mask(6)[0, 0], "src_key_padding_mask": hidden, "memory_key_padding_mask": hidden}
    with torch.no_grad():
        x, y = model.embeddings(batch.ids), model.embeddings(batch.target)
        expected = theirs(x, y, **masks) @ model.embeddings.token.weight.T
        got, tapped = model(batch).logits, model(batch, lambda name, x: x).logits
    assert torch.allclose(got, expected, atol=1e-5, rtol=1e-5), (got - expected).abs().max()
    assert torch.allclose(tapped, expected, atol=1e-5, rtol=1e-5)


def test_the_embedding_is_the_papers():
    """§3.4: the token's vector times √H; §3.5: the sinusoid of its position is added."""
    part = seq2seq.SinusoidEmbeddings(CONFIG)
    ids = torch.tensor([[3, 5]])
    expected = part.token.weight[ids] * 24**0.5 + sinusoids(2, 24)
    assert torch.allclose(part(ids), expected, atol=1e-6)


def test_the_loss_is_that_of_the_real_words():
    model = perturbed(CONFIG.change(vocab_size=len(WORDS.entries)))
    short, long = ["bee"], ["cat", "dog", "ant"]
    together = model(WORDS.batch([short, long], [short, long]))
    apart = [model(WORDS.batch([one], [one])) for one in (short, long)]
    expected = (2 * apart[0].loss + 4 * apart[1].loss) / 6  # [EOS] is a word to be said
    assert together.loss.item() == pytest.approx(expected.item(), rel=1e-5)


def test_a_batch_is_shifted_by_one():
    batch = WORDS.batch([["cat", "ant", "yak"], ["bee"]], [["ant", "cat"], ["bee"]])
    read, target = ([[WORDS.entries[i] for i in row] for row in ids.tolist()] for ids in (batch.ids, batch.target))
    assert read == [["cat", "ant", UNK, EOS], ["bee", EOS, PAD, PAD]]
    assert target == [[BOS, "ant", "cat"], [BOS, "bee", PAD]]
    assert batch.labels.tolist()[1] == [WORDS.ids["bee"], WORDS.ids[EOS], IGNORE]
    assert batch.padding.tolist() == [[True] * 4, [True, True, False, False]]
    assert batch.tokens == 6 + 5


def test_the_tasks_and_the_words_of_any_text():
    words = ["cat", "ant", "fox", "ant"]
    assert seq2seq.REORDERINGS["reverse"](words) == ["ant", "fox", "ant", "cat"]
    assert seq2seq.REORDERINGS["sort"](words) == ["ant", "ant", "cat", "fox"]
    assert seq2seq.REORDERINGS["copy"](words) == words
    assert seq2seq.split_words("  Anna’s  two CATS, 我!😀\x00") == ["anna", "s", "two", "cats", "我"]
    assert seq2seq.split_words("?! …") == []
    assert len(set(seq2seq.word_list())) == len(seq2seq.word_list())
    for wrong in ({"task": "shout"}, {"steps": 0}, {"longest": 0}):
        with pytest.raises(ValueError):
            Seq2SeqSettings(**wrong)


def test_held_out_sentences_never_come_up_nor_repeats_where_none_are_wanted():
    rng = random.Random(0)
    sentences = Sentences(Words.of(["a", "b"]), 2).holding_out(4, rng)  # of the 12 there are, [UNK] being a word
    drawn = {sentences.draw(rng) for _ in range(2_000)}
    assert len(sentences.held_out) == 4 and len(drawn) == 8 and not drawn & sentences.held_out
    drawn = [Sentences(WORDS, 6, repeats=False).draw(rng) for _ in range(100)]
    assert all(len(set(sentence)) == len(sentence) for sentence in drawn)
    assert {len(sentence) for sentence in drawn} == {1, 2, 3, 4, 5, 6}


SMALL = Seq2SeqSettings(longest=3, steps=60, batch_size=32, held_out=50, evaluate_every=30)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("run") / "model"
    return list(seq2seq.train_seq2seq(SMALL, probe_inputs=["Zebras sang!", "?"], out=out)), out


def test_a_run_tells_what_it_did_and_is_the_same_again(run):
    events, _out = run
    assert isinstance(events[0], Started)
    assert "zebras" in events[0].details["words"]
    evals = [event for event in events if isinstance(event, Eval)]
    assert [event.step for event in evals] == [0, 30, 60]
    assert evals[-1].metrics["token_accuracy"] > evals[0].metrics["token_accuracy"]
    sample = next(event for event in events if isinstance(event, Sample)).answers
    assert [answer["source"] for answer in sample] == [["zebras", "sang"]]
    assert sample[0]["target"] == ["sang", "zebras"]
    assert all(sum(row) == pytest.approx(1, abs=0.01) and len(row) == 3 for row in sample[0]["cross"])
    assert isinstance(events[-1], Done) and events[-1].metrics == evals[-1].metrics
    again = list(seq2seq.train_seq2seq(SMALL, probe_inputs=["Zebras sang!", "?"]))
    assert [one.metrics for one in again if isinstance(one, Eval)] == [event.metrics for event in evals]


def test_a_saved_model_is_the_model(run, tmp_path):
    events, out = run
    trained, folder = Trained.load(out), tmp_path / "b"
    assert (trained.task, trained.longest) == ("reverse", 3)
    assert list(trained.words.entries) == list(events[0].details["words"])
    trained.save(folder)
    assert Trained.load(folder).answer(["zebras", "sang"]) == trained.answer(["zebras", "sang"])
    with pytest.raises(CheckpointError):
        Trained.load(tmp_path)
    said = json.loads((folder / "seq2seq.json").read_text())
    said["config"]["intermediate_size"] = 2**24  # which would take gigabytes to build
    (folder / "seq2seq.safetensors").write_bytes(b"not weights")
    with pytest.raises(CheckpointError):
        Trained.load(folder)
    trained.save(folder)
    for content, why in [(json.dumps(said), "holds other weights"), ("[" * 100_000, "nested more than 100 deep")]:
        (folder / "seq2seq.json").write_text(content)
        with pytest.raises(CheckpointError, match=why):
            Trained.load(folder)


def test_a_decoding_is_what_the_model_says_step_by_step(run):
    trained = Trained.load(run[1])
    decoding = trained.decode(["sang", "quark", "boat", "too", "long"])
    assert decoding.source == ["sang", UNK, "boat", EOS]
    assert decoding.target[1:] == trained.say([["sang", UNK, "boat"]])[0]
    steps = decoding.probs.argmax(-1).tolist()
    assert [trained.words.entries[i] for i in steps[: len(decoding.target) - 1]] == decoding.target[1:]
    assert decoding.attention("decoder.cross").shape == (1, 2, len(decoding.target), 4)
    assert decoding.attention("encoder.attn").shape == (1, 2, 4, 4)
    source = trained.words.batch([["sang", UNK, "boat"]])
    with torch.no_grad():
        first = trained.model.decode(torch.tensor([[trained.words.ids[BOS]]]), trained.model.encode(source), source)
    assert torch.allclose(first[0, 0].softmax(-1), decoding.probs[0], atol=1e-5)
    with pytest.raises(ValueError, match="no word"):
        trained.decode([])


@pytest.mark.release
@pytest.mark.trains
def test_the_default_run_reverses_whole_sentences():
    last = [event for event in seq2seq.train_seq2seq(Seq2SeqSettings()) if isinstance(event, Eval)][-1]
    assert last.metrics["sequence_accuracy"] >= 0.99
