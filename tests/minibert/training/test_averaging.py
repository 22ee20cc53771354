import json

import pytest
import torch
import transformers

from minibert import checkpoint
from minibert.__main__ import main
from minibert.finetune.predictor import Predictor
from minibert.model import BertForPreTraining
from minibert.tokenizer import Tokenizer
from minibert.training.averaging import average


@pytest.fixture
def models(tmp_path, small_checkpoint):
    """Three models of one kind, two of them some way from the first."""
    folders = [small_checkpoint]
    for seed in (1, 2):
        torch.manual_seed(seed)
        model = checkpoint.load(small_checkpoint)
        for weight in model.parameters():
            weight.data += 0.1 * torch.randn_like(weight)
        folders.append(checkpoint.save(tmp_path / f"other-{seed}", model, checkpoint.load_tokenizer(small_checkpoint)))
    return folders


def test_every_weight_is_the_mean(tmp_path, models):
    mean = checkpoint.load(average(models, tmp_path / "mean")).state_dict()
    parts = [checkpoint.load(folder).state_dict() for folder in models]
    for name, value in mean.items():
        assert torch.allclose(value, torch.stack([part[name] for part in parts]).mean(0), atol=1e-6), name
    assert checkpoint.load_tokenizer(tmp_path / "mean").vocab == checkpoint.load_tokenizer(models[0]).vocab


def test_transformers_reads_the_mean_that_the_command_writes_and_its_decoder_is_still_tied(tmp_path, models):
    assert main(["average", *map(str, models), "--out", str(tmp_path / "mean")]) == 0
    assert checkpoint.config_values(tmp_path / "mean")["dtype"] == "float16"
    theirs = transformers.BertForPreTraining.from_pretrained(tmp_path / "mean").float()
    ours = checkpoint.load(tmp_path / "mean")
    assert torch.equal(theirs.bert.embeddings.word_embeddings.weight, ours.bert.embeddings.token.weight)
    assert theirs.cls.predictions.decoder.weight is theirs.bert.embeddings.word_embeddings.weight


def test_a_fine_tuned_model_keeps_its_task(tmp_path, answering):
    folders = [answering("classification", max_length=16).save(tmp_path / name) for name in "ab"]
    predictor = Predictor.from_directory(average(folders, tmp_path / "mean"))
    assert predictor.labels == ["no", "maybe", "yes"] and predictor.options.max_length == 16
    assert predictor.predict(["a b"])[0]["label"] in predictor.labels


def test_a_file_from_before_the_objective_was_noted_is_no_other_kind(tmp_path, models):
    file = models[1] / "config.json"
    values = json.loads(file.read_text())
    assert values.pop(checkpoint.OBJECTIVE) == "mlm+nsp"
    file.write_text(json.dumps(values))
    mean = average(models[:2], tmp_path / "mean")
    assert checkpoint.config_values(mean)[checkpoint.OBJECTIVE] == "mlm+nsp"


def test_other_kinds_of_models_are_refused(tmp_path, small_checkpoint, loaded):
    model, tokenizer = loaded
    smaller = BertForPreTraining(model.config.change(intermediate_size=16))
    checkpoint.save(tmp_path / "smaller", smaller, tokenizer)
    special, pieces = tokenizer.vocab[:5], tokenizer.vocab[5:]
    checkpoint.save(tmp_path / "words", model, Tokenizer([*special, *reversed(pieces)]))
    for others, why in (
        ([], "two models or more"),
        ([tmp_path / "smaller"], r"smaller is another kind.*intermediate_size"),
        ([tmp_path / "words"], "words has another vocabulary"),
        ([tmp_path / "nothing"], "is not a directory"),
    ):
        with pytest.raises(ValueError, match=why):
            average([small_checkpoint, *others], tmp_path / "mean")
    assert not (tmp_path / "mean").exists()
