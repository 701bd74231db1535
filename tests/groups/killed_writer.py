"""A process that writes runs and decisions to a store until it is killed, and says what is done."""

import sys

from clustruct.groups import Decision, Item, Store

if __name__ == "__main__":
    store = Store(sys.argv[1])
    for n in range(int(sys.argv[2]), 1_000_000):
        with store.transaction():
            store.add_items([Item(f"{n}-{k}", {"text": "x" * 200}) for k in range(50)])
            groups = {f"{n}-{k}": f"g{n}-{k % 2}" for k in range(50)}
            run = store.record_run(groups)
        store.decide(Decision("merge", group=f"g{n}-1", into=f"g{n}-0"))
        if n % 5 == 0:
            store.decide(Decision("undo", undoes=run + 1))
        piles = tuple(tuple(f"{n}-{k}" for k in range(pile, 50, 3)) for pile in range(3))
        store.decide(Decision("sort", piles=piles))
        print(n, flush=True)
