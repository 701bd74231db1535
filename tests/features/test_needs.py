"""Features know which fields they need: data without them, or with other things there, is refused by name."""

import warnings

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from clustruct import PairFeatures, Table, load, save
from clustruct.core.exceptions import DataError, DataWarning, ModelFileError
from clustruct.data import Source
from clustruct.data.datasets import make_mentions, make_records
from clustruct.estimators.baselines import PairwiseClassifierClustering
from clustruct.features import (
    Blocking,
    Links,
    Mentions,
    Strings,
    Terms,
    Vectors,
    check_tables,
    guess_blocks,
    needs,
)

SETS = make_records(n_sets=4, n_people=6)
TRAIN, TEST = SETS[:2], SETS[2:]
FEATURES = PairFeatures(guess_blocks(TRAIN, "records"), blocking=Blocking(from_size=1000)).fit(TRAIN)


def changed(table, **how):
    """The set with fields renamed (a string), without them (None), or with other values (a function)."""

    def item(given):
        kept = {k: v for k, v in given.items() if k not in how}
        for name, to in how.items():
            if isinstance(to, str):
                kept[to] = given[name]
            elif to is not None:
                kept[name] = to(given[name])
        return kept

    return Table([item(i) for i in table.items], table.labels, table.name, table.ids, source=table.source)


def names(features):
    return {need.name: need for need in features.needs_}


def test_what_is_needed_is_known():
    needs = names(FEATURES)
    assert set(needs) == set(TRAIN[0].fields())
    assert needs["born"].kind == "number"
    assert needs["name"].kind == "string"
    column = [v for table in TRAIN for v in table.column("phone")]
    assert needs["phone"].missing == pytest.approx(column.count(None) / len(column))
    assert all(need.absent == 0.0 for need in needs.values())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": None}, "no item has the field 'name', .* there are street, city, phone, born"),
        ({"name": "Name"}, "is it 'Name' for 'name'"),
        ({"name": "nmae"}, "is it 'nmae' for 'name'"),
        ({"born": lambda v: f"about {v}"}, "the field 'born' held numbers in training"),
        ({"city": lambda v: [1.0, 2.0]}, "the field 'city' held texts in training"),
    ],
)
def test_other_fields_are_refused(change, message):
    wrong = [changed(table, **change) for table in TEST]
    with pytest.raises(DataError, match=message):
        FEATURES.transform(wrong)
    lenient = PairFeatures.from_state(FEATURES.state()).set_params(allow_missing_fields=True)
    assert len(lenient.transform(wrong)) == len(wrong)


def test_one_set_of_several_may_lack_a_field():
    ragged = [TEST[0], changed(TEST[1], city=None)]
    with pytest.warns(DataWarning, match="'city' is missing in 5.% of the items"):
        second = FEATURES.transform(ragged)[1]
    with pytest.raises(DataError, match="no item has the field 'city'"):
        FEATURES.transform(ragged[1:])
    with pytest.warns(DataWarning, match="city"):
        trusting = FEATURES.check_tables(ragged)
    alone = trusting.transform(ragged[1:])[0]
    np.testing.assert_array_equal(alone.pairs, second.pairs)


def test_every_file_is_judged_by_itself():
    good = Table(TEST[0].items, source=Source("mon.jsonl", 1))
    bad = changed(Table(TEST[1].items, source=Source("tue.jsonl", 1)), city="City")
    with pytest.raises(DataError, match=r"^tue\.jsonl: no item has the field 'city'"):
        FEATURES.transform([good, bad])


def test_a_table_is_judged_at_its_first_set():
    """JSONL only at its end: a later set may have the field."""
    for source, given in ((Source("a.jsonl", 1), 2), (Source("a.csv", lines=range(99)), 0)):
        sets = (changed(Table(table.items, source=source), city=None) for table in TEST)
        found = []
        with pytest.raises(DataError, match="city"):
            found.extend(FEATURES.check_stream(sets))
        assert len(found) == 0 or given == 2


def test_what_training_lacked_as_often_is_no_fault():
    """A field that nine in ten training items did not have may be absent in twenty others."""
    items = [{"t": f"word{i}", **({"rare": f"x{i}"} if i % 10 == 0 else {})} for i in range(40)]
    features = PairFeatures([Strings("t"), Strings("rare")]).fit([Table(items)])
    assert names(features)["rare"].absent == 0.9
    features.transform([Table([{"t": "a"}] * 20)])
    with pytest.raises(DataError, match="rare"):
        features.transform([Table([{"t": "a"}] * 60)])


def test_many_missing_values_are_a_warning():
    items = [{"t": f"word{i}", "u": "a" if i % 10 else None} for i in range(40)]
    features = PairFeatures([Strings("t"), Strings("u")]).fit([Table(items)])
    most = [{**item, "u": item["u"] if i % 3 == 0 else None} for i, item in enumerate(items)]
    with pytest.warns(DataWarning, match="'u' is missing in 7.% of the items, in training 10%"):
        features.transform([Table(most)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        features.transform([Table(items)])
        features.transform([Table(most[:19])])
        features.set_params(allow_missing_fields=True).transform([Table(most)])


def test_links_and_annotation_are_needed_where_training_had_them():
    items = [{"t": "a"}, {"t": "b"}, {"t": "c"}]
    features = PairFeatures([Links()]).fit([Table(items, context={"links": [[0, 1]]})])
    with pytest.raises(DataError, match="no set has 'links'"):
        features.transform([Table(items)])
    PairFeatures([Links()]).fit([Table(items)]).transform([Table(items)])
    texts = make_mentions(n_sets=2)
    tags = [{"upos": [["X"] * len(s) for s in t.context["tokens"]]} for t in texts]
    tagged = [Table(t.items, context={**t.context, **tag}) for t, tag in zip(texts, tags, strict=True)]
    features = PairFeatures([Mentions()]).fit(tagged)
    with pytest.raises(DataError, match="no set has 'upos'"):
        features.transform(texts)
    assert len(PairFeatures([Mentions()]).fit(texts).transform(tagged)) == 2


def test_blocking_needs_its_own_fields():
    items = [{"t": f"word{i} x", "note": f"some {i} y"} for i in range(8)]
    features = PairFeatures([Strings("t")], blocking=Blocking(["note"], from_size=2)).fit([Table(items)])
    with pytest.raises(DataError, match="'note'"):
        features.transform([Table([{"t": "word1"}, {"t": "word2"}])])


def test_vectors_are_not_words():
    sets = [Table([{"v": [1.0, 2.0]}, {"v": [3.0, 1.0]}, {"v": [0.0, 1.0]}])]
    features = PairFeatures([Vectors(["v"])]).fit(sets)
    with pytest.raises(DataError, match="'v' held vectors in training; 2 of the 2 values"):
        features.transform([Table([{"v": "1.0 2.0"}, {"v": "3.0 1.0"}])])
    words = PairFeatures([Terms(["t"])]).fit([Table([{"t": "a"}, {"t": "b"}])])
    words.transform([Table([{"t": 7}, {"t": ["a", "b"]}])])


def test_a_model_file_keeps_the_needs(tmp_path):
    pipeline = make_pipeline(FEATURES, PairwiseClassifierClustering())
    pipeline.fit(TRAIN, [table.labels for table in TRAIN])
    save(tmp_path / "m", pipeline)
    again = load(tmp_path / "m")
    assert again[0].needs_ == FEATURES.needs_
    with pytest.raises(DataError, match="'name'"):
        again.predict([changed(table, name="who") for table in TEST])
    trusting = check_tables(again, TEST)
    assert len(trusting.predict([changed(TEST[0], name=None)])) == 1
    assert not again[0].allow_missing_fields
    for wrong in (["x"], [needs.FieldNeed("x", "string"), 3], "x"):
        pipeline[0].needs_ = wrong
        save(tmp_path / "m", pipeline)
        with pytest.raises(ModelFileError, match="needs"):
            load(tmp_path / "m")
    with pytest.raises(ValueError, match="shares"):
        needs.FieldNeed("x", "string", missing=2.0)


def test_of_many_sets_some_are_looked_at(monkeypatch):
    """Values of every sixteenth set say as much, and the last sets are among them."""
    monkeypatch.setattr(needs, "MANY", 100)
    sets = [Table.from_columns({"n": [str(i), str(i + 1)]}) for i in range(1000)]
    (need,) = needs.learn_needs(sets, ["n"], [])
    assert (need.kind, need.missing, need.absent, need.other) == ("number", 0.0, 0.0, 0.0)
    count = needs.FieldCount()
    for table in sets:
        count.add("n", "number", table)
    assert (count.items, count.there) == (2000, 2000)
    assert 200 <= count.looked <= 240
    assert len(list(needs.check_stream(sets, [need]))) == 1000
    words = [Table.from_columns({"n": ["one", "two"]})] * 3000
    with pytest.raises(DataError, match="held numbers in training"):
        list(needs.check_stream(sets + words, [need]))
