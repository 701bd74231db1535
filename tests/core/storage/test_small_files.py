"""Small files that ask for much: each is refused within a second of processor."""

import gc
import time

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from clustruct import PairFeatures, Table
from clustruct.core.exceptions import ModelFileError
from clustruct.core.storage import load, save
from clustruct.core.storage.container import read_container, write_container
from clustruct.estimators.baselines import DefaultClustering
from clustruct.features import Blocking, Strings, Terms
from clustruct.features.base import MOST_PRODUCTS, product_columns
from clustruct.features.blocks.strings import MEASURES

SETS = [Table([{"a": "x y", "b": "z"}, {"a": "x", "b": "z"}], labels=[0, 0])]


def blocks(header):
    return header["object"]["state"]["steps"][0][1]["state"]["blocks"]


def parameters(header):
    return blocks(header)[0]["state"]["parameters"]


def products(header, patterns):
    header["object"]["state"]["steps"][0][1]["state"]["products"] = patterns


def many_measures(header):
    parameters(header)["measures"] = ["spelling"] * 5000
    products(header, [["*", "*"]])


def many_blocks(header):
    """As many blocks as there may be, all of one block's size: fifty million products."""
    blocks(header)[:] = [block for block in blocks(header) if block["$object"] == "Strings"] * 1999
    products(header, [["*", "*"]])


def overlapping(header):
    """No product twice, and each of the patterns matches everything."""
    blocks(header)[:] = [block for block in blocks(header) if block["$object"] == "Strings"] * 15
    products(header, [["*" * i + "?" * j, "*"] for i in range(1, 400) for j in range(1, 40)])


FILES = {
    "5,000 measures and all products": many_measures,
    "200,000 measures": lambda header: parameters(header).update(measures=["spelling"] * 200_000),
    "100,000 patterns": lambda header: products(header, [["*", "*"]] * 100_000),
    "100,000 patterns, all different": lambda header: products(
        header, [[f"{i}*", "*"] for i in range(100_000)]
    ),
    "one long pattern": lambda header: products(header, [["*a" * 500_000, "*"]]),
    "all products of many blocks": many_blocks,
    "overlapping patterns": overlapping,
    "a list for a name": lambda header: parameters(header).update(field=["a"] * 100_000),
    "a field many times": lambda h: blocks(h)[1]["state"]["parameters"].update(fields=["a"] * 100_000),
}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    features = PairFeatures([Strings("a"), Terms(["a", "b"])], blocking=Blocking(), products=[("a*", "a*")])
    path = tmp_path_factory.mktemp("model") / "m"
    save(path, make_pipeline(features, DefaultClustering()).fit(SETS, [[0, 0]]))
    return path


@pytest.mark.parametrize("change", FILES.values(), ids=FILES)
def test_refused_within_a_second_of_processor(path, tmp_path, change):
    header, arrays = read_container(path)
    change(header)
    del header["arrays"]
    write_container(tmp_path / "m", header, arrays)
    gc.freeze()  # what other tests of this process left is not looked through again and again
    started = time.process_time()
    with pytest.raises(ModelFileError, match=f"^{tmp_path / 'm'}: ") as refused:
        load(tmp_path / "m")
    seconds = time.process_time() - started
    gc.unfreeze()
    # Seconds of processor. The largest of the nine took 0.43, 0.45 and 0.47 in three runs on two busy cores.
    assert seconds < 1.0
    assert len(str(refused.value)) < 1000


def test_measures_are_named_once():
    with pytest.raises(ValueError, match=r"measures must be some of spelling, .* each once"):
        Strings("a", measures=[MEASURES[0]] * 2).fit(SETS)


def test_products_by_name_and_by_pattern():
    names = [f"a{i}" for i in range(150)] + ["b*", "c"]
    found = product_columns([("a1*", "c"), ("c", "a1*"), ("b*", "c"), ("c", "c")], names)
    a1 = [i for i, name in enumerate(names) if name.startswith("a1")]
    assert found == [*((i, 151) for i in a1), (150, 151), (151, 151)]
    # A name is a name, whatever characters are in it, and may be a pattern as well.
    assert product_columns([("b[*]", "c")], names) == [(150, 151)]
    listed = [(f"a{i}", f"a{j}") for i in range(150) for j in range(i)]
    assert product_columns(listed, names) == [(j, i) for i in range(150) for j in range(i)]
    with pytest.raises(ValueError, match=f"more than {MOST_PRODUCTS} products"):
        product_columns([("a*", "*"), ("*", "*")], [f"a{i}" for i in range(250)])
    assert np.all(np.diff(product_columns([("*", "*")], names[:100]), axis=1) >= 0)
