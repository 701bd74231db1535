"""A word for "no label" is not the name of a group."""

import pytest

from clustruct import read_sets
from clustruct.core.exceptions import DataWarning, NoLabels
from clustruct.data.io import ColumnRoles


@pytest.fixture
def write(tmp_path):
    def written(word):
        path = tmp_path / "t.csv"
        path.write_text(f"id,who,name\n1,a,x\n2,a,y\n3,{word},z\n4,{word},u\n5,,v\n")
        return path

    return written


@pytest.mark.parametrize("word", ["null", "NULL", "NA", "n/a", "None", "nan", "-1", "?"])
@pytest.mark.parametrize("use", ["partial", "skip"])
def test_words_for_no_label_are_no_group(write, word, use):
    path = write(word)
    with pytest.warns(DataWarning, match=r"2 rows with '.*' in the column 'who'"):
        (table,) = read_sets(path, columns=ColumnRoles(cluster="who"), labels=use)
    assert list(table.labels) == (["a", "a", None, None, None] if use == "partial" else ["a", "a"])


@pytest.mark.filterwarnings("ignore:.*taken as rows without a label")
def test_where_labels_are_needed_a_word_is_none(write):
    with pytest.raises(NoLabels, match="item '3' has no cluster"):
        list(read_sets(write("null"), columns=ColumnRoles(cluster="who"), labels="required"))


def test_other_words_are_groups(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,who,name\n1,default,x\n2,missing,y\n3,nadia,z\n")
    (table,) = read_sets(path, columns=ColumnRoles(cluster="who"))
    assert list(table.labels) == ["default", "missing", "nadia"]
