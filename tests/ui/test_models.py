"""Models are shared by everyone, so nobody can change them; traces are whole and computed once."""

import json
import os
import shutil
from functools import partial

import numpy as np
import pytest
import torch
import transformers

from minibert import checkpoint
from minibert.config import BertConfig
from minibert.heads import BertForIntentAndEntities, BertForMultipleChoice
from minibert.model import Batch, BertForPreTraining
from minibert.sentence_vectors import packaged
from minibert.tokenizer import SPECIAL_TOKENS, Tokenizer
from tests.pages.driver import plain
from tests.ui.driver import opened
from ui import model_cache, model_registry, model_widgets
from ui.model_registry import UNTRAINED
from ui.model_widgets import model_choice

LETTERS = [*SPECIAL_TOKENS, *"abcdefgh", *("##" + c for c in "abcdefgh")]


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A folder of checkpoints with one small model in it."""
    torch.manual_seed(1)
    tokenizer = Tokenizer(LETTERS)
    config = BertConfig(
        vocab_size=tokenizer.vocab_size,
        hidden_size=8,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=10,
    )
    checkpoint.save(tmp_path / "small", BertForPreTraining(config), tokenizer)
    monkeypatch.setattr(model_registry, "CHECKPOINTS", tmp_path)
    monkeypatch.setenv("MINIBERT_RUNS", str(tmp_path / "no-runs"))
    model_cache._load.clear()
    model_cache._trace.clear()
    model_cache._in_memory.clear()
    return tmp_path


def test_there_is_always_a_model(shelf, monkeypatch):
    monkeypatch.setattr(model_registry, "CHECKPOINTS", shelf / "empty")
    assert names() == [UNTRAINED]
    loaded = model_cache.load(UNTRAINED)
    assert loaded.config.vocab_size == loaded.tokenizer.vocab_size
    assert not loaded.model.training
    assert len(model_cache.trace_of(UNTRAINED, "the dog").tokens) >= 4


def names(**kinds) -> list[str]:
    return [info.name for info in model_registry.available_models(**kinds)]


def test_the_untrained_model_has_the_same_shape_and_is_always_the_same(shelf):
    state = torch.random.get_rng_state()
    one = model_cache.load(UNTRAINED).model.state_dict()
    assert torch.equal(state, torch.random.get_rng_state())
    model_cache._load.clear()
    other = model_cache.load(UNTRAINED).model.state_dict()
    trained = model_cache.load("small").model.state_dict()
    assert {k: v.shape for k, v in one.items()} == {k: v.shape for k, v in trained.items()}
    assert all(torch.equal(one[k], other[k]) for k in one)
    assert not torch.equal(one["bert.embeddings.token.weight"], trained["bert.embeddings.token.weight"])


def test_a_trace_is_what_the_model_computes(shelf):
    trace = model_cache.trace_of("small", "abc", "de")
    with torch.no_grad():
        out = model_cache.load("small").model(Batch(torch.tensor([trace.ids]), torch.tensor([trace.encoding.segments])))
    assert trace.tokens == ["[CLS]", "a", "##b", "##c", "[SEP]", "d", "##e", "[SEP]"]
    np.testing.assert_allclose(trace["mlm.logits"], out.mlm_logits[0].numpy(), atol=1e-5)
    assert trace["blocks.1.attn.probs"].shape == (2, 8, 8)
    np.testing.assert_allclose(trace["blocks.0.attn.probs"].sum(-1), 1, atol=1e-5)
    assert {"embeddings.sum", "blocks.0.attn.scores", "blocks.1.out", "pooler.out", "nsp.logits"} <= set(trace.names)


def test_a_trace_is_shared_and_cannot_be_changed(shelf):
    trace = model_cache.trace_of("small", "abc")
    assert model_cache.trace_of("small", "abc") is trace
    assert model_cache.trace_of("small", "abd") is not trace
    with pytest.raises(ValueError, match="read-only"):
        trace["embeddings.sum"][0] = 0
    assert len(model_cache.trace_of("small", "a b c d e f g h " * 50).tokens) == 10  # cut to the model


def test_a_replaced_checkpoint_is_loaded_anew_and_asking_loads_nothing(shelf):
    weights = shelf / "small" / "model.safetensors"
    assert not model_cache.loaded(["small"])
    before = model_cache.load("small")
    assert model_cache.load("small") is before and model_cache.loaded(["small"])
    assert model_cache.version_of("small") == weights.stat().st_mtime_ns
    checkpoint.save(shelf / "small", BertForPreTraining(before.config), before.tokenizer)
    os.utime(weights, ns=(1, 10**18))
    assert model_cache.version_of("small") == 10**18 and not model_cache.loaded(["small"])
    assert model_cache.load("small") is not before
    assert model_cache.version_of(UNTRAINED) == model_cache.version_of("no such model") == 0


def test_who_can_fill_and_an_incomplete_folder_is_no_model(shelf):
    (shelf / "half").mkdir()
    (shelf / "half" / "config.json").write_text("{}")
    assert names() == ["small", UNTRAINED]
    config = shelf / "small" / "config.json"
    assert names(fill=True)[0] == "small"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"architectures": ["BertForSequenceClassification"]}))
    assert names(fill=True) == [UNTRAINED]


@pytest.fixture
def further(shelf, tmp_path_factory, monkeypatch):
    """MINIBERT_MODELS with an ELECTRA and an encoder without heads, as transformers saves them, and what is none."""
    folder = tmp_path_factory.mktemp("models")
    tokenizer = Tokenizer(LETTERS)
    sizes = {"vocab_size": tokenizer.vocab_size, "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2}
    sizes |= {"intermediate_size": 16, "max_position_embeddings": 10}
    for name, model in (
        ("electra", transformers.ElectraForPreTraining(transformers.ElectraConfig(**sizes, embedding_size=4))),
        ("encoder", transformers.BertModel(transformers.BertConfig(**sizes))),
    ):
        model.save_pretrained(folder / name)
        tokenizer.save(folder / name)
    for name in ("pickled", "gpt2", "small"):
        shutil.copytree(folder / "encoder", folder / name)
    (folder / "pickled" / "model.safetensors").rename(folder / "pickled" / "pytorch_model.bin")
    config = folder / "gpt2" / "config.json"
    config.write_text(config.read_text().replace('"bert"', '"gpt2"'))
    monkeypatch.setenv("MINIBERT_MODELS", str(folder))
    return folder


def test_the_rooms_own_checkpoints_are_offered_for_what_they_can_do(further):
    assert names() == ["small", "electra", "encoder", UNTRAINED]
    assert names(fill=True) == ["small", UNTRAINED]
    assert names(begin=True, trained=True) == ["small", "electra", "encoder"]
    assert model_registry.model_named("electra").directory == further / "electra"
    assert model_registry.model_named("small").directory.parent != further  # the course's own goes first
    assert model_cache.trace_of("electra", "abc").tokens == model_cache.trace_of("encoder", "abc").tokens
    trained = BertForPreTraining(model_cache.load("small").config)
    assert "encoder" in names()
    checkpoint.save(further / "encoder", trained, Tokenizer(LETTERS))
    assert "encoder" in names(fill=True)


def test_a_folder_that_is_no_model_is_named_with_the_reason(further, monkeypatch):
    refused = model_registry.refused_models()
    assert set(refused) == {"pickled", "gpt2", "small"}
    assert "pickled" in refused["pickled"] and "gpt2" in refused["gpt2"]
    assert str(further) not in "".join(refused.values())  # readers need not know the server's folders
    told = plain(" ".join(caption.value for caption in opened(model_choice).caption))
    assert all(name in told for name in refused)
    monkeypatch.setenv("MINIBERT_MODELS", str(further / "nowhere"))
    assert names() == ["small", UNTRAINED] and "MINIBERT_MODELS" in model_registry.refused_models()


def test_weights_in_several_files_are_one_model(further):
    model = transformers.BertForPreTraining.from_pretrained(further / "encoder")
    shutil.rmtree(further / "encoder")
    model.save_pretrained(further / "encoder", max_shard_size="2KB")
    Tokenizer(LETTERS).save(further / "encoder")
    assert not (further / "encoder" / "model.safetensors").exists()
    info = model_registry.model_named("encoder")
    assert info.objective == "mlm+nsp" and info.version > 0
    assert model_cache.trace_of("encoder", "abc")["nsp.logits"].shape == (2,)


def test_a_peer_is_loaded_by_name_and_chosen_nowhere(shelf, monkeypatch):
    class Installed(packaged.Packaged):
        def directory(self):
            return shelf / "small"

    missing = packaged.Packaged("absent", "en", "no-such-weights==1", "x", "0" * 64)
    monkeypatch.setattr(packaged, "PACKAGED", {"peer": Installed("peer", "en", "", "", ""), "absent": missing})
    assert [info.name for info in model_registry.peers("en")] == ["peer"]
    assert "peer" not in names()
    assert model_cache.load("peer").config.hidden_size == 8
    assert model_cache.version_of("peer") == model_cache.version_of("small") > 0
    assert model_registry.title_of("absent") == model_registry.title_of(UNTRAINED)


def test_a_damaged_checkpoint_is_a_sentence_on_the_page(shelf):
    (shelf / "small" / "model.safetensors").write_bytes(b"not weights")
    run = opened(model_cache.trace_of, "small", "abc")
    assert "got" not in run.session_state
    assert "model.safetensors" in plain(run.error[0].value)


def test_the_choice_is_in_the_link_and_a_bad_one_is_ignored(shelf):
    run = opened(model_choice, model="../../etc/passwd")
    assert run.session_state["got"] == "small"
    run.selectbox[0].set_value(UNTRAINED).run()
    assert run.session_state["got"] == run.query_params["model"] == UNTRAINED
    assert opened(partial(model_choice, default="elsewhere")).session_state["got"] == "small"


@pytest.mark.parametrize(
    ("link", "begins"),
    [
        ({}, "untrained"),
        ({"projector": "1"}, "untrained"),
        ({"sentence": "abc"}, "untrained"),
        ({"sentence": "abc", "model": "untrained"}, "untrained"),
        ({"sentence": "abc", "model": "small"}, "small"),
    ],
    ids=["bare", "on any page", "says another thing", "says the default", "says another model"],
)
def test_a_page_begins_with_its_default_model_or_that_of_its_link(shelf, link, begins):
    run = opened(partial(model_choice, default=UNTRAINED), **link)
    assert run.session_state["got"] == begins
    assert set(run.query_params) == set(link), "a page that was only opened is one step in the browser's history"


def test_models_with_task_heads_can_be_traced_too(shelf):
    before = model_cache.load("small")
    heads = {
        "choices": BertForMultipleChoice(before.config, metadata=[3]),
        "intents": BertForIntentAndEntities(before.config, {"intents": ["x", "y"], "tags": ["O"]}),
        "bare": before.model.bert,
    }
    for name, model in heads.items():
        checkpoint.save(shelf / name, model, before.tokenizer)
        assert model_cache.trace_of(name, "abc", "de")["embeddings.sum"].shape == (8, before.config.hidden_size)


def test_two_models_of_one_name_can_both_be_chosen(shelf, monkeypatch):
    shown = [model_registry.ModelInfo(str(i), "twin", shelf / "small") for i in (2, 1)]
    monkeypatch.setattr(model_widgets, "available_models", lambda **kinds: shown)
    run = opened(model_choice)
    assert run.selectbox[0].options == ["twin (2)", "twin"]
    for name in ("1", "2"):
        assert run.selectbox[0].set_value(name).run().session_state["got"] == name
