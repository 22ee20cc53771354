"""Saving and loading: the ecosystem's layout both ways, whole or not at all, and never a pickle."""

import dataclasses
import json
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from minibert import checkpoint
from minibert.checkpoint import CheckpointError
from minibert.config import BertConfig
from minibert.heads import BertForSequenceClassification
from minibert.model import Batch, Bert, BertForPreTraining
from minibert.relatives.registry import relative_named
from minibert.tokenizer import SPECIAL_TOKENS, Tokenizer
from minibert.unfilled import filled_later

CONFIG = BertConfig(
    vocab_size=60, hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=50,
    max_position_embeddings=32,
)  # fmt: skip
BATCH = Batch(torch.arange(5, 25).reshape(2, 10))
MODELS = {
    "BertModel": lambda: Bert(CONFIG),
    "BertForPreTraining": lambda: BertForPreTraining(CONFIG),
    "BertForSequenceClassification": lambda: BertForSequenceClassification(CONFIG, ["no", "maybe", "yes"]),
}


@pytest.fixture
def tokenizer():
    letters = [chr(97 + i) for i in range(26)]
    return Tokenizer([*SPECIAL_TOKENS, *letters, *("##" + letter for letter in letters), ".", ",", "!"])


@pytest.mark.parametrize("name", MODELS)
def test_what_was_saved_comes_back(name, tmp_path, tokenizer):
    model = MODELS[name]().eval()
    directory = checkpoint.save(tmp_path / "model", model, tokenizer)
    again = checkpoint.load(directory)
    assert type(again) is type(model) and again.config == CONFIG and not again.training
    for key, value in model.state_dict().items():
        assert torch.equal(again.state_dict()[key], value), key
    assert checkpoint.load_tokenizer(directory).vocab == tokenizer.vocab
    if name == "BertForSequenceClassification":
        assert again.labels == ["no", "maybe", "yes"]


@pytest.mark.parametrize("name", MODELS)
def test_transformers_loads_it_with_no_missing_and_no_unexpected_key(name, tmp_path, tokenizer):
    model = MODELS[name]().eval()
    directory = checkpoint.save(tmp_path / "model", model, tokenizer)
    theirs, report = getattr(transformers, name).from_pretrained(directory, output_loading_info=True)
    assert not report["missing_keys"] and not report["unexpected_keys"] and not report["mismatched_keys"]
    with torch.no_grad():
        expected, got = theirs.eval()(BATCH.ids), model(BATCH)
    if name == "BertModel":
        torch.testing.assert_close(got[0], expected.last_hidden_state, atol=1e-5, rtol=0)
        torch.testing.assert_close(got[1], expected.pooler_output, atol=1e-5, rtol=0)
    elif name == "BertForPreTraining":
        torch.testing.assert_close(got.mlm_logits, expected.prediction_logits, atol=1e-5, rtol=0)
        torch.testing.assert_close(got.nsp_logits, expected.seq_relationship_logits, atol=1e-5, rtol=0)
    else:
        torch.testing.assert_close(got.logits, expected.logits, atol=1e-5, rtol=0)
        assert theirs.config.id2label == {0: "no", 1: "maybe", 2: "yes"}
    text = "abc, def!"
    theirs_tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
    assert theirs_tokenizer(text)["input_ids"] == tokenizer.encode(text).ids


@pytest.mark.parametrize("name", [*MODELS, "BertForMaskedLM"])
def test_we_load_what_transformers_saves(name, tmp_path):
    theirs = getattr(transformers, name)(transformers.BertConfig(**CONFIG.as_dict(), num_labels=3)).eval()
    theirs.save_pretrained(tmp_path)
    ours = checkpoint.load(tmp_path)
    with torch.no_grad():
        expected, got = theirs(BATCH.ids), ours(BATCH)
    if name == "BertModel":
        torch.testing.assert_close(got[0], expected.last_hidden_state, atol=1e-5, rtol=0)
    elif name == "BertForSequenceClassification":
        torch.testing.assert_close(got.logits, expected.logits, atol=1e-5, rtol=0)
    else:
        logits = expected.logits if name == "BertForMaskedLM" else expected.prediction_logits
        torch.testing.assert_close(got.mlm_logits, logits, atol=1e-5, rtol=0)


def test_a_pre_trained_encoder_becomes_a_classifier(tmp_path):
    pretrained = BertForPreTraining(CONFIG)
    checkpoint.save(tmp_path / "model", pretrained)
    model = checkpoint.load(tmp_path / "model", kind=BertForSequenceClassification, labels=["a", "b"], pooling="mean")
    for key, value in pretrained.bert.state_dict().items():
        assert torch.equal(model.bert.state_dict()[key], value), key
    assert model.labels == ["a", "b"] and model.pooling == "mean"


def test_half_precision_is_half_the_size_and_loads_as_float32(tmp_path):
    model = BertForPreTraining(CONFIG).eval()
    whole = checkpoint.save(tmp_path / "whole", model) / "model.safetensors"
    half = checkpoint.save(tmp_path / "half", model, dtype=torch.float16) / "model.safetensors"
    assert half.stat().st_size < 0.55 * whole.stat().st_size
    again = checkpoint.load(tmp_path / "half")
    assert {p.dtype for p in again.parameters()} == {torch.float32}
    with torch.no_grad():
        torch.testing.assert_close(again(BATCH).mlm_logits, model(BATCH).mlm_logits, atol=1e-3, rtol=1e-2)


def test_saving_is_all_or_nothing(tmp_path, monkeypatch):
    model = BertForPreTraining(CONFIG)
    directory = checkpoint.save(tmp_path / "model", model)
    (directory / "notes.md").write_text("mine")
    before = {file.name: file.read_bytes() for file in directory.iterdir()}

    def break_down(state, path, **options):
        path.write_bytes(b"half a fi")
        raise OSError("disk full")

    monkeypatch.setattr(checkpoint, "save_file", break_down)
    with pytest.raises(OSError, match="disk full"):
        checkpoint.save(directory, BertForPreTraining(CONFIG))
    assert {file.name: file.read_bytes() for file in directory.iterdir()} == before
    with pytest.raises(OSError, match="disk full"):
        checkpoint.save(tmp_path / "new", model)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model"]


def test_a_pickled_checkpoint_is_refused_with_a_reason(tmp_path):
    directory = checkpoint.save(tmp_path / "model", Bert(CONFIG))
    (directory / "model.safetensors").unlink()
    (directory / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    with pytest.raises(CheckpointError, match=r"pytorch_model.bin is a pickled checkpoint.*can run any code"):
        checkpoint.load(directory)


def spoiled(directory, **changes):
    config = json.loads((directory / "config.json").read_text())
    (directory / "config.json").write_text(json.dumps({**config, **changes}))


def overwritten(directory, value):
    """One weight of many."""
    weights = load_file(directory / "model.safetensors")
    weights["bert.encoder.layer.1.output.LayerNorm.weight"][3] = value
    save_file(weights, directory / "model.safetensors", metadata={"format": "pt"})


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda d: spoiled(d, hidden_size=48), "has shape .* where config.json asks for"),
        (lambda d: spoiled(d, num_hidden_layers=3), r"lacks bert.encoder.layer.2"),
        (lambda d: spoiled(d, num_hidden_layers=1), r"holds bert.encoder.layer.1.* which is no part of this model"),
        (lambda d: spoiled(d, model_type="gpt2"), 'model_type is "gpt2"'),
        (lambda d: spoiled(d, position_embedding_type="relative_key"), "relative_key"),
        (lambda d: spoiled(d, architectures=["BertForQuantumGravity"]), "BertForQuantumGravity is not one of"),
        (lambda d: spoiled(d, architectures=5), r"architectures must be a list \(each a text\), not 5"),
        (lambda d: spoiled(d, architectures=[5]), r"architectures must be a list"),
        (lambda d: spoiled(d, architectures="BertModel"), r"architectures must be a list"),
        (lambda d: spoiled(d, id2label=-1), "id2label must be an object .* not -1"),
        (
            lambda d: spoiled(d, architectures=["BertForSequenceClassification"], id2label={"a": "b"}),
            "keys of id2label",
        ),
        (lambda d: spoiled(d, id2label={str(i): "a" for i in range(70_000)}), "70,000 labels; at most 65,536 are read"),
        (lambda d: spoiled(d, minibert_options=[]), "minibert_options must be an object, not "),
        (lambda d: spoiled(d, classifier_metadata=-1), "classifier_metadata must be a list"),
        (
            lambda d: spoiled(
                d, architectures=["BertForQuestionAnswering"], id2label={"0": "a"}, classifier_metadata=[10**9]
            ),
            "a metadata column has from 0 to 65,536 values",
        ),
        (lambda d: spoiled(d, model_type=[]), r"model_type must be a text"),
        (lambda d: spoiled(d, hidden_act=["gelu"]), "hidden_act must be a text"),
        (lambda d: spoiled(d, hidden_dropout_prob="a lot"), "hidden_dropout_prob must be a number, not "),
        (lambda d: spoiled(d, vocab_size=10**12), "vocab_size is 1000000000000; at most"),
        (lambda d: spoiled(d, vocab_size=10**400), "vocab_size is 10*…; at most"),
        (lambda d: spoiled(d, num_hidden_layers=10**6), "num_hidden_layers is 1000000; at most 1,000"),
        (lambda d: spoiled(d, hidden_size=3 * 2**20), "has shape .* where config.json asks for .*3145728"),  # 400 TB
        (lambda d: spoiled(d, max_position_embeddings=2**24), "has shape .* where config.json asks for"),
        (lambda d: spoiled(d, layer_norm_eps=-1e-12), "layer_norm_eps must be a number above 0, not -1e-12"),
        (lambda d: spoiled(d, layer_norm_eps=float("nan")), "layer_norm_eps must be a number, not NaN"),
        (lambda d: spoiled(d, layer_norm_eps=10**400), "layer_norm_eps must be a number, not 1000"),
        (lambda d: spoiled(d, initializer_range=-1), "initializer_range must be a number of at least 0"),
        (lambda d: (d / "config.json").write_text("[" * 100_000), r"config.json: .* nested more than 100 deep"),
        (lambda d: (d / "config.json").write_text("[]"), r"config.json: not a JSON object"),
        (lambda d: (d / "config.json").write_bytes(b'"\xff"'), r"config.json: .* not UTF-8"),
        (lambda d: overwritten(d, float("nan")), r"LayerNorm.weight holds what is no finite number"),
        (lambda d: (d / "config.json").write_text("{"), "config.json"),
        (lambda d: (d / "config.json").unlink(), "has no config.json"),
        (lambda d: (d / "model.safetensors").unlink(), "has no model.safetensors"),
        (lambda d: (d / "model.safetensors").write_bytes(b"\x00" * 40), "damaged or not a safetensors file"),
    ],
)
def test_what_is_wrong_is_named(spoil, message, tmp_path):
    directory = checkpoint.save(tmp_path / "model", BertForPreTraining(CONFIG))
    spoil(directory)
    with pytest.raises(CheckpointError, match=message):
        checkpoint.load(directory)


def test_building_an_outline_draws_no_random_numbers(tmp_path):
    """A fresh head is the one that the seed gives, after the encoder that is filled from the file."""
    directory = checkpoint.save(tmp_path / "model", BertForPreTraining(CONFIG))
    torch.manual_seed(3)
    loaded = checkpoint.load(directory, kind=BertForSequenceClassification, labels=["a", "b"])
    torch.manual_seed(3)
    with filled_later():
        built = BertForSequenceClassification(CONFIG, ["a", "b"])
    assert torch.equal(loaded.classifier.weight, built.classifier.weight)


def test_albert_and_nezha_allocate_nothing_that_no_file_holds(tmp_path):
    """One block stands for all layers in ALBERT's file, and none holds NEZHA's sinusoids."""
    for kind, wrong in [("albert", {"num_hidden_layers": 10**9}), ("nezha", {"max_relative_position": 10**9})]:
        config = relative_named(kind).config.from_dict(
            {"model_type": kind, "vocab_size": 60, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3}
        )
        directory = checkpoint.save(tmp_path / kind, BertForPreTraining(config))
        checkpoint.load(directory)
        spoiled(directory, **wrong)
        with pytest.raises(CheckpointError, match=rf"{next(iter(wrong))} "):
            checkpoint.load(directory)


def test_where_nothing_can_be_written_is_known_before_the_work(tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "taken" / "model.safetensors").mkdir(parents=True)
    for goal, why in [
        (tmp_path / "file", "Not a directory"),
        (tmp_path / "file" / "model", "Not a directory"),
        (tmp_path / "file" / "deeper" / "model", "Not a directory"),
        (tmp_path / "taken", "model.safetensors in it is a directory"),
        (tmp_path / ("a" * 300), "File name too long"),
        (Path("/proc/nowhere/model"), "cannot be written"),
    ]:
        with pytest.raises(CheckpointError, match=f"cannot be written: .*{why}|{why}"):
            checkpoint.make_ready(goal)
    checkpoint.make_ready(tmp_path / "new" / "model")
    checkpoint.make_ready(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "taken"]


def test_what_a_killed_save_has_left_goes_and_nothing_else(tmp_path):
    for name in ("model", "model-2"):
        with pytest.raises(KeyboardInterrupt), checkpoint.writing(tmp_path / name) as folder:
            left = folder.with_name(folder.name)
            raise KeyboardInterrupt
        left.mkdir()  # as SIGKILL would have left it
        (left / "model.safetensors").write_bytes(b"half")
    (tmp_path / ".model-notes").write_text("mine")
    checkpoint.make_ready(tmp_path / "model")
    left = sorted(path.name for path in tmp_path.iterdir())
    assert len(left) == 2 and left[0].startswith(".model-2-") and left[1] == ".model-notes"


def test_no_such_directory(tmp_path):
    with pytest.raises(CheckpointError, match="is not a directory"):
        checkpoint.load(tmp_path / "nowhere")


def test_tied_decoder_stays_tied_after_loading(tmp_path):
    directory = checkpoint.save(tmp_path / "model", BertForPreTraining(CONFIG))
    assert "cls.predictions.decoder.weight" not in load_file(directory / "model.safetensors")
    again = checkpoint.load(directory)
    assert again.mlm.decoder.weight is again.bert.embeddings.token.weight


def test_an_old_checkpoint_with_position_ids_loads(tmp_path):
    directory = checkpoint.save(tmp_path / "model", BertForPreTraining(CONFIG))
    state = load_file(directory / "model.safetensors")
    state["bert.embeddings.position_ids"] = torch.arange(32)[None]
    save_file(state, directory / "model.safetensors")
    checkpoint.load(directory)


def rewritten(directory, change):
    state = load_file(directory / "model.safetensors")
    save_file(change(state), directory / "model.safetensors")
    return directory


def test_layernorms_under_their_old_names_load(tmp_path):
    """As in the released bert-base-uncased, which transformers renames too."""
    model = BertForPreTraining(CONFIG)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "norm" in name:
                weight.normal_()
    old = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}

    def aged(state):
        for new, name in old.items():
            state = {key.replace(new, name): value for key, value in state.items()}
        return state

    directory = rewritten(checkpoint.save(tmp_path / "model", model), aged)
    assert any(key.endswith("gamma") for key in load_file(directory / "model.safetensors"))
    ours, theirs = checkpoint.load(directory), transformers.BertForPreTraining.from_pretrained(directory).eval()
    with torch.no_grad():
        torch.testing.assert_close(ours(BATCH).mlm_logits, theirs(BATCH.ids).prediction_logits, atol=1e-5, rtol=0)
    for name, value in model.state_dict().items():
        assert torch.equal(ours.state_dict()[name], value), name


def test_without_architectures_the_weights_say_what_it_is(tmp_path):
    for model, kind in ((BertForPreTraining(CONFIG), BertForPreTraining), (Bert(CONFIG), Bert)):
        directory = checkpoint.save(tmp_path / kind.__name__, model)
        spoiled(directory, architectures=None)
        assert type(checkpoint.load(directory)) is kind


def test_an_untied_decoder_is_refused(tmp_path):
    directory = checkpoint.save(tmp_path / "model", BertForPreTraining(CONFIG))
    same = load_file(directory / "model.safetensors")["bert.embeddings.word_embeddings.weight"].clone()
    rewritten(directory, lambda state: {**state, "cls.predictions.decoder.weight": same})
    checkpoint.load(directory)
    rewritten(directory, lambda state: {**state, "cls.predictions.decoder.weight": same + 1})
    with pytest.raises(CheckpointError, match=r"differs from bert.embeddings.word_embeddings.weight"):
        checkpoint.load(directory)


def test_a_tokenizer_as_transformers_saves_it_today(tmp_path, tokenizer):
    directory = checkpoint.save(tmp_path / "model", Bert(CONFIG), tokenizer)
    (directory / "vocab.txt").unlink()
    assert checkpoint.load_tokenizer(directory).vocab == tokenizer.vocab
    (directory / "tokenizer.json").unlink()
    with pytest.raises(CheckpointError, match=r"has no vocab.txt"):
        checkpoint.load_tokenizer(directory)


def test_rows_without_a_token_have_a_name(tmp_path, tokenizer):
    """Some round their vocabulary up to a multiple of 8: such a row can come first in an answer."""
    model = BertForPreTraining(dataclasses.replace(CONFIG, vocab_size=64))
    directory = checkpoint.save(tmp_path / "model", model, tokenizer)
    padded = checkpoint.load_tokenizer(directory)
    assert padded.vocab_size == 64 and padded.vocab[:60] == tokenizer.vocab
    assert padded.decode([5, 63]) == "a [row 63]"
    assert padded.encode("a [row 63]").ids == tokenizer.encode("a [row 63]").ids  # never read
    padded.save(tmp_path / "again")
    assert (tmp_path / "again" / "vocab.txt").read_bytes() == (directory / "vocab.txt").read_bytes()
