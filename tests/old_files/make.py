"""Write the files and ``answers.json``, with the code at commit e028f13 (and never again with later code).

In a checkout of that commit, with this folder copied into its ``tests``::

    PYTHONPATH=src python -m tests.old_files.make
"""

from __future__ import annotations

import importlib
import json
import lzma
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy import sparse

import clustruct
import clustruct.features.similarity
from clustruct import ssvm
from clustruct.core.kernels import Kernel
from clustruct.data import datasets
from clustruct.data.io import write_sets
from clustruct.estimators import SupervisedCorrelationClustering, SupervisedKMeans
from clustruct.groups import Decision, Store
from clustruct.learning.problems import MulticlassProblem
from clustruct.studio.engine import Engine
from clustruct.studio.folder import Folder, begin
from clustruct.studio.learning import LearningProgress, learn
from tests.old_files import ask

FIELDS = ("--id", "id", "--fields", "name,street,city,phone,born", "--seed", "0")
PEOPLE = (*FIELDS, "--cluster", "cluster")
SETS = ("--set", "set", "--id", "id", "--cluster", "cluster")
LINES = {
    "people": ("people.csv", *PEOPLE),
    "trees": ("people.csv", *PEOPLE, "--similarity", "trees", "--C", "1"),
    "kernel": ("sets.csv", *SETS, "--similarity", "kernel", "--C", "1", "--where", "set=batch 0"),
    "mapped": ("sets.csv", *SETS, "--similarity", "mapped", "--C", "1", "--calibrate"),
    "unlabelled": ("people.csv", *FIELDS, "--labels", "none"),
    "blocked": ("people.csv", *PEOPLE, "--block", "20", "--neighbours", "4", "--C", "1"),
    "linked": ("linked.csv", "--id", "id", "--cluster", "cluster", "--source", "side", "--C", "1"),
    "agglomerative": ("sets.csv", *SETS, "--linkage", "average", "--C", "1"),
    "left": ("texts.jsonl", "--linkage", "left", "--C", "1"),
    "pairs": ("sets.csv", *SETS, "--learner", "pairs", "--loss", "mitre"),
    "kmeans": ("days.jsonl", "--learner", "kmeans", "--C", "1"),
    "mentions": ("texts.jsonl", "--C", "1", "--loss", "b_cubed"),
    "days": ("days.jsonl", "--C", "1", "--calibrate", "--surrogates", "pairwise,purity"),
}
PACKED = 10_000
LOSSES = (
    *("b_cubed", "ceaf_entity", "ceaf_mention", "lea", "mitre", "pairwise_f", "purity"),
    "variation_of_information",
)


def run(*words: str) -> None:
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)


def command(*words: str) -> None:
    run("-m", "clustruct", *words)


def write_data() -> None:
    """Small data, all made up."""
    table = datasets.make_records(n_sets=2, n_people=20, errors=0.5, random_state=3)
    write_sets("people.csv", table[:1])
    write_sets("new_people.csv", table[1:])
    sets = datasets.make_records(n_sets=7, n_people=5, errors=0.5, random_state=4)
    write_sets("sets.csv", sets[:5])
    write_sets("new_sets.csv", sets[5:])
    texts = datasets.make_mentions(n_sets=4, random_state=5)
    write_sets("texts.jsonl", texts[:3])
    write_sets("new_texts.jsonl", texts[3:])
    days = datasets.make_news(n_sets=5, n_stories=3, most=4, random_state=6)
    write_sets("days.jsonl", days[:4])
    write_sets("new_days.jsonl", days[4:])
    header, *rows = Path("people.csv").read_text().splitlines()
    sided = [f"{row},{'left' if n % 2 else 'right'}" for n, row in enumerate(rows)]
    Path("linked.csv").write_text("\n".join([f"{header},side", *sided]) + "\n")
    header, *rows = Path("new_people.csv").read_text().splitlines()
    sided = [f"{row},{'left' if n % 2 else 'right'}" for n, row in enumerate(rows)]
    Path("new_linked.csv").write_text("\n".join([f"{header},side", *sided]) + "\n")
    posts = [f"{n % 2},{n // 2 % 2},{'red ' * (n % 2)}{'blue ' * (n // 2 % 2)}day {n % 5}" for n in range(40)]
    Path("posts.csv").write_text("\n".join(["a,b,body", *posts]) + "\n")
    write_rows(np.random.default_rng(0))


def write_rows(rng: np.random.Generator) -> None:
    """Rows of SVM^light, some with several labels."""
    for name, n in (("rows", 60), ("new_rows", 20)):
        y = np.arange(n) % 3
        X = np.abs(3.0 * np.eye(3)[y] @ np.eye(3, 5) + rng.normal(size=(n, 5))).round(2)
        lines = [" ".join(f"{k + 1}:{v:g}" for k, v in enumerate(x)) for x in X]
        one = [f"{label + 1} {line}" for label, line in zip(y, lines, strict=True)]
        Path(f"{name}.svm").write_text("\n".join(one) + "\n")
        sign = [f"{1 if label == 0 else -1} {line}" for label, line in zip(y, lines, strict=True)]
        Path(f"{name}.hook").write_text("\n".join(sign) + "\n")
        several = [
            f"{'1,3' if label == 2 else label + 1} {line}" for label, line in zip(y, lines, strict=True)
        ]
        Path(f"{name}.labels").write_text("\n".join(several) + "\n")


def write_models() -> None:
    for name, words in LINES.items():
        command("fit", *words, "--model", f"{name}.model", "--quiet")
    command("universum", "fit", "rows.svm", "--clusters", "2", "--universum-label", "3", "--starts", "2",
            "--model", "universum.model", "--quiet")  # fmt: skip
    command("multilabel", "fit", "posts.csv", "--text", "body", "--labels", "a,b", "--C", "10", "--model",
            "posts.model", "--quiet")  # fmt: skip
    command("multilabel", "fit", "rows.labels", "--C", "10", "--model", "multilabel.model", "--quiet")
    learn_hooks = "import sys; from clustruct.cli.learn import main; sys.exit(main(sys.argv[1:]))"
    run("-c", learn_hooks, "-c", "10", "--m", "hook_binary.py", "rows.hook", "hook.model")
    run("-c", learn_hooks, "-c", "10", "-t", "2", "--m", "hook_binary.py", "rows.hook", "hook_kernel.model")


def write_estimators() -> None:
    """What only Python makes: other estimators, all losses, results of the engine."""
    pairs, y = ask.pair_sets()
    X, labels = ask.table()
    b, own = clustruct.estimators.baselines, SupervisedCorrelationClustering
    made = {f"loss_{loss}": own(C=1.0, loss=loss).fit(pairs, y) for loss in LOSSES}
    sets = list(clustruct.read_sets("sets.csv", set="set", id="id", cluster="cluster"))
    support = ssvm.VectorSum(np.array([1.0, -2.0]), sparse.csr_array(np.eye(2)), np.array([0, 1]))
    made |= {
        "recipe": clustruct.Recipe(C=1.0).fit(sets),
        "kernel_model": ssvm.KernelModel(Kernel("rbf", gamma=0.5), support, 1.5),
        "loss_normalised": SupervisedKMeans(C=1.0, loss="normalised").fit(pairs, y),
        "default": b.DefaultClustering("together").fit(pairs, y),
        "pair_kmeans": b.PairKMeans(n_clusters=3).fit(pairs, y),
        "untrained_kmeans": b.UntrainedKMeans().fit(pairs, y),
        "cpm3c": b.CPM3C(n_clusters=3, init=labels).fit(X),
        "plsa": b.PLSA(n_clusters=3, random_state=1).fit(X),
        "clgr": b.CLGR(n_clusters=3, n_neighbors=5, random_state=1).fit(X),
        "result": ssvm.fit(MulticlassProblem(X, labels), C=1.0),
    }
    f, maps = clustruct.features, clustruct.features.similarity
    table = ask.items()
    blocks = [f.Lists("by"), f.Vectors(["v"]), f.Links(), f.Elsewhere("maker", ["title"]), f.Dates("day")]
    made |= {
        "blocks": clustruct.PairFeatures([*blocks, f.Numbers("price"), f.TextCosines("title")]).fit([table]),
        "map_fourier": maps.FourierMap(n_components=4).fit(pairs, y),
        "map_forest": maps.ForestColumn(n_trees=3).fit(pairs, y),
        "map_products": maps.FullProducts().fit([clustruct.ItemSet(nodes=X)]),
        "map_trees": maps.TreeColumn(n_trees=3).fit(pairs, y),
    }
    for name, model in made.items():
        clustruct.save(f"{name}.learned", model)


def write_checkpoint() -> None:
    """A training that ends with the process, after some rounds."""
    cut = """
import os, sys
from clustruct.ssvm import checkpoint
checkpoint.Checkpoint.every, writes, save = 0.0, [], checkpoint.Checkpoint._save_now_and_then
def counted(*args):
    save(*args)
    writes.append(1)
    if len(writes) == 6:
        os._exit(7)
checkpoint.Checkpoint._save_now_and_then = counted
from clustruct.cli.main import main
main(sys.argv[1:])
"""
    done = subprocess.run([sys.executable, "-c", cut, *ask.CUT_SHORT, "--model", "x.model"])
    assert done.returncode == 7, done.returncode


def write_store() -> None:
    """A store with a decision of each kind, a file of decisions, and kept features."""
    shutil.copy("people.csv", "known.csv")
    command("store", "groups.db", "--create", "--items", "known.csv", "--id", "id", "--quiet")
    with Store("groups.db") as store:
        groups: dict[str, list[str]] = {}
        for item, group in store.groups().items():
            groups.setdefault(group, []).append(item)
        (g1, (a, b, *_)), (g2, _), (_, (c, *_)), (g4, (d, *rest4)), (g5, (e, f, *_)), *_ = (
            (g, items) for g, items in groups.items() if len(items) > 1
        )
        for decision in (
            Decision("same", (a, b), author="ann"),
            Decision("different", (a, c), author="bob", note="other people"),
            Decision("unsure", (a, e)),
            Decision("sort", piles=((e, f), (c,))),
            Decision("merge", group=g1, into=g2),
            Decision("split", (d,), group=g4),
            Decision("move", (rest4[0],), into=g2),
            Decision("move", (c,)),
            Decision("confirm", group=g5),
            Decision("note", note="to remember"),
        ):
            store.decide(decision)
        store.decide(Decision("undo", undoes=store.decisions()[-3].number))
    command("store", "groups.db", "--decisions-out", "decisions.jsonl", "--quiet")
    command("store", "groups.db", "--decisions-out", "decisions.csv", "--quiet")
    Path("constraints.csv").write_text(f"a,b,answer\n{a},{b},yes\n{a},{c},no\n{a},{e},unsure\n")
    command("predict", "new_people.csv", "--model", "people.model", "--existing", "groups.db", "--quiet",
            "--out", "x.csv")  # fmt: skip
    kept = ("--keep-features", "kept.features")
    command("fit", "people.csv", *PEOPLE, "--C", "1", *kept, "--model", "x.model", "--quiet")


def write_project() -> None:
    """A project of Studio with two models."""
    path = begin(Folder(Path()), "new_people.csv", id="id", fields=["name", "street", "phone"], kind="auto")
    engine = Engine(path)
    learn(engine, LearningProgress(lambda message: None))
    with Store(path) as store:
        one = next(iter(store.groups().values()))
        store.decide(Decision("confirm", group=one))
    learn(engine, LearningProgress(lambda message: None))
    path.rename("studio.db")


def pack() -> None:
    """What is large is kept as .xz, and the hook module, which is no test."""
    for path in list(Path().iterdir()):
        if path.stat().st_size > PACKED or path.suffix == ".py":
            Path(f"{path.name}.xz").write_bytes(lzma.compress(path.read_bytes()))
            path.unlink()


def main() -> None:
    shutil.rmtree(ask.FILES, ignore_errors=True)
    ask.FILES.mkdir()
    hook = Path(__file__).parents[2] / "examples" / "hooks" / "binary.py"
    os.chdir(ask.FILES)
    shutil.copy(hook, "hook_binary.py")
    for write in (write_data, write_models, write_estimators, write_checkpoint, write_store, write_project):
        write()
    for made in ("x.model", "x.csv", "known.csv"):
        Path(made).unlink(missing_ok=True)
    pack()
    importlib.reload(ask)  # there are files to ask now
    answers = {name: ask.answer(name) for name in ask.QUESTIONS}
    text = json.dumps(answers, indent=1, ensure_ascii=False)
    (ask.FILES / "answers.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
