import json

import pytest
import torch
import transformers

from minibert import checkpoint
from minibert.__main__ import main
from minibert.finetune.predictor import Predictor
from minibert.heads import BertForSequenceClassification
from minibert.model import BertForPreTraining
from minibert.tasks import TASKS
from minibert.tasks.options import Options
from minibert.tokenizer import Tokenizer
from minibert.training.averaging import average


@pytest.fixture
def others(tmp_path, small_checkpoint):
    """Two more models of the same kind, each some way from the first."""
    folders = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        model = checkpoint.load(small_checkpoint)
        for weight in model.parameters():
            weight.data += 0.1 * torch.randn_like(weight)
        folders.append(checkpoint.save(tmp_path / f"other-{seed}", model, checkpoint.load_tokenizer(small_checkpoint)))
    return folders


def test_every_weight_is_the_mean(tmp_path, small_checkpoint, others):
    folders = [small_checkpoint, *others]
    mean = checkpoint.load(average(folders, tmp_path / "mean")).state_dict()
    parts = [checkpoint.load(folder).state_dict() for folder in folders]
    for name, value in mean.items():
        assert torch.allclose(value, torch.stack([part[name] for part in parts]).mean(0), atol=1e-6), name
    assert checkpoint.load_tokenizer(tmp_path / "mean").vocab == checkpoint.load_tokenizer(small_checkpoint).vocab


def test_transformers_reads_the_mean_and_its_decoder_is_still_tied(tmp_path, small_checkpoint, others):
    average([small_checkpoint, *others], tmp_path / "mean", torch.float16)
    theirs = transformers.BertForPreTraining.from_pretrained(tmp_path / "mean").float()
    ours = checkpoint.load(tmp_path / "mean")
    assert torch.equal(theirs.bert.embeddings.word_embeddings.weight, ours.bert.embeddings.token.weight)
    assert theirs.cls.predictions.decoder.weight is theirs.bert.embeddings.word_embeddings.weight


def test_a_fine_tuned_model_keeps_its_task(tmp_path, small_checkpoint):
    config = checkpoint.load(small_checkpoint).config
    for seed in (0, 1):
        torch.manual_seed(seed)
        model = BertForSequenceClassification(config, ["bad", "good"])
        tokenizer = checkpoint.load_tokenizer(small_checkpoint)
        Predictor(model, tokenizer, TASKS["classification"], Options(max_length=16)).save(tmp_path / str(seed))
    predictor = Predictor.from_directory(average([tmp_path / "0", tmp_path / "1"], tmp_path / "mean"))
    assert predictor.labels == ["bad", "good"] and predictor.options.max_length == 16
    assert predictor.predict(["a b"])[0]["label"] in predictor.labels


def test_a_file_from_before_the_objective_was_noted_is_no_other_kind(tmp_path, small_checkpoint, others):
    file = others[0] / "config.json"
    values = json.loads(file.read_text())
    assert values.pop(checkpoint.OBJECTIVE) == "mlm+nsp"
    file.write_text(json.dumps(values))
    mean = average([small_checkpoint, others[0]], tmp_path / "mean")
    assert checkpoint.config_values(mean)[checkpoint.OBJECTIVE] == "mlm+nsp"


def test_other_kinds_of_models_are_refused(tmp_path, small_checkpoint):
    model, tokenizer = checkpoint.load(small_checkpoint), checkpoint.load_tokenizer(small_checkpoint)
    with pytest.raises(ValueError, match="two models or more"):
        average([small_checkpoint], tmp_path / "mean")
    smaller = BertForPreTraining(model.config.change(intermediate_size=16))
    checkpoint.save(tmp_path / "smaller", smaller, tokenizer)
    with pytest.raises(checkpoint.CheckpointError, match=r"smaller is another kind.*intermediate_size"):
        average([small_checkpoint, tmp_path / "smaller"], tmp_path / "mean")
    special, *pieces = tokenizer.vocab[:5], *tokenizer.vocab[5:]
    checkpoint.save(tmp_path / "words", model, Tokenizer([*special, *reversed(pieces)]))
    with pytest.raises(checkpoint.CheckpointError, match="words has another vocabulary"):
        average([small_checkpoint, tmp_path / "words"], tmp_path / "mean")
    with pytest.raises(checkpoint.CheckpointError, match="is not a directory"):
        average([small_checkpoint, tmp_path / "nothing"], tmp_path / "mean")
    assert not (tmp_path / "mean").exists()


def test_the_command(tmp_path, small_checkpoint, others):
    assert main(["average", str(small_checkpoint), str(others[0]), "--out", str(tmp_path / "mean")]) == 0
    assert checkpoint.config_values(tmp_path / "mean")["dtype"] == "float16"
