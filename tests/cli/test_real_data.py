"""Records of a real data set through the command alone, where the data is to be had."""

import json
import os
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(
        not os.environ.get("CLUSTRUCT_DATA"),
        reason="CLUSTRUCT_DATA does not name the folder with the records",
    ),
]


def test_cora_with_default_settings(command, tmp_path):
    """First five folds to train, last five to test; 95.3 when this was written."""
    data = Path(os.environ["CLUSTRUCT_DATA"]) / "entity_resolution" / "cora.csv.gz"
    columns = ("--set", "fold", "--id", "record_id", "--cluster", "cluster_id")
    model = ("--model", tmp_path / "m", "--quiet")
    assert command("fit", data, *columns, "--where", "fold=0,1,2,3,4", *model)[0] == 0
    code, out, _ = command("evaluate", data, "--where", "fold=5,6,7,8,9", *model, "--json")
    assert code == 0
    assert json.loads(out)["mean"]["pairwise_f1"] > 0.92
