"""What recorded figures carry with them: the fields of the results that are recorded already."""

import json
import platform

import pytest
import torch

import bench.machine
from minibert.training import machine
from tests.test_layers import ROOT

FIELDS = ["date", "processor", "threads", "device", "bfloat16", "python", "torch"]
BENCH_FIELDS = {*FIELDS, "cores", "transformers", "tokenizers"}


def test_versions_and_processor_are_this_machine_s():
    told = machine.description()
    assert list(told) == FIELDS and json.loads(json.dumps(told)) == told
    assert told["torch"] == torch.__version__ and told["python"] == platform.python_version()
    assert told["processor"] in (machine.processors() or [platform.processor()])


@pytest.mark.parametrize("path", sorted((ROOT / "bench" / "results").glob("*.json")), ids=lambda path: path.stem)
def test_a_bench_s_record_keeps_its_fields(path):
    assert set(bench.machine.description()) == set(json.loads(path.read_text())["machine"]) == BENCH_FIELDS
