"""What fields hold is told from some values of all parts of the data."""

from clustruct.data import Table, field_kinds


def test_many_sets_are_looked_at_in_part():
    """A hundred thousand sets cost what a thousand do, and their end is looked at, too."""
    words = [Table([{"n": "7", "id": str(i)}, {"n": "seven", "id": "x"}]) for i in range(2000)]
    numbers = [Table([{"n": str(i), "id": "x"}, {"n": "7", "id": "y"}]) for i in range(60_000)]
    assert field_kinds(words + numbers) == {"n": "number", "id": "id"}
    assert field_kinds(numbers[:2000] + words * 2) == {"n": "string", "id": "id"}
    looked = []

    class Watched(Table):
        def some(self, field, part):
            looked.append(field)
            return super().some(field, part)

    field_kinds([Watched(table.items) for table in numbers], ["n"])
    assert len(looked) <= 1000


def test_ids_are_told_from_all_values_of_a_set():
    names = [str(i) for i in range(5000)]
    assert field_kinds([Table.from_columns({"id": names, "t": names})])["id"] == "id"
    assert field_kinds([Table.from_columns({"id": [*names[:-1], "0"], "t": names})])["id"] == "number"
    assert field_kinds([Table([{"id": 1}, {"id": "1"}, {"id": "x"}])])["id"] == "string"
