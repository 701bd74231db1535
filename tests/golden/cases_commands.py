"""The command ``clustruct``: exit codes, files and machine-readable output."""

from __future__ import annotations

import csv
import json
import tempfile
from contextlib import contextmanager
from pathlib import Path

from . import names
from .record import case

COLUMNS = ("--set", "set", "--cluster", "cluster")
# Times, paths, versions and names of classes say nothing about behaviour.
LEFT_OUT = ("seconds", "model", "versions", "report", "learner", "loss")
# What `fit` says since the record was made, and how many independent values a comparison has (DEFECTS 13).
LEFT_OUT += ("held_out_pairwise_f", "left_out", "n_groups")


def clustruct(*words):
    code, out = names.run("clustruct", *words)
    return {"code": code, "out": out}


def printed(*words):
    """Exit code, and the JSON object that the command prints."""
    found = clustruct(*words, "--json", "--quiet")
    lines = found["out"].strip()
    return {"code": found["code"], **(trimmed(names.own_keys(json.loads(lines))) if lines else {})}


def trimmed(value):
    if isinstance(value, dict):
        return {key: trimmed(held) for key, held in value.items() if key not in LEFT_OUT}
    return [trimmed(held) for held in value] if isinstance(value, list) else value


def fitted(*words):
    """`fit`: weights without the names of their features, the strongest first."""
    found = printed("fit", *words)
    if "weights" in found:
        found["weights"] = list(found["weights"].values())
    return found


def evaluated(*words):
    """`evaluate`: means and pooled scores, and of each set what is grouped how."""
    found = printed("evaluate", *words)
    sets = [
        [row["set"], row["items"], row["clusters"], row["predicted_clusters"]] for row in found.pop("per_set")
    ]
    found.pop("against", None)
    return {**found, "sets": sets}


def rows(path):
    with open(path, newline="", encoding="utf-8") as f:
        return [" | ".join(row) for row in csv.reader(f)]


@contextmanager
def records():
    """train.csv and test.csv of records; the number of sets is small."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sets = names.make_records(n_sets=6, n_people=5)
        names.write_sets(folder / "train.csv", sets[:4])
        names.write_sets(folder / "test.csv", sets[4:])
        yield folder


def news(folder):
    sets = names.make_news(n_sets=7, n_stories=3, most=4)
    names.write_sets(folder / "news.jsonl", sets[:5])
    names.write_sets(folder / "new.jsonl", sets[5:])
    return folder / "news.jsonl", folder / "new.jsonl"


@case
def command_records():
    """fit, predict and evaluate on a table."""
    with records() as folder:
        model, test = folder / "m.model", folder / "test.csv"
        found = {"fit": fitted(folder / "train.csv", *COLUMNS, "--C", 1, "--model", model)}
        for kind in ("csv", "tsv", "jsonl"):
            out = folder / f"groups.{kind}"
            found[f"predict {kind}"] = clustruct("predict", test, "--model", model, "--out", out, "--quiet")[
                "code"
            ]
        found["groups"] = rows(folder / "groups.csv")
        found["jsonl"] = [json.loads(line) for line in (folder / "groups.jsonl").read_text().splitlines()]
        found["sure"] = printed("predict", test, "--model", model, "--confidence")["sets"]
        found["stdout"] = clustruct("predict", test, "--model", model, "--quiet")["out"].splitlines()[:4]
        found["evaluate"] = evaluated(test, "--model", model)
        same = evaluated(test, *COLUMNS, "--id", "id", "--predictions", folder / "groups.csv")
        found["same from file"] = same["mean"] == found["evaluate"]["mean"]
        return found


@case
def command_options():
    """Losses, scaling, costs, choice of C, fields, predictors and learners."""
    with records() as folder:
        train, test = folder / "train.csv", folder / "test.csv"
        lines = {
            "cv": (),
            "mitre slack": ("--C", 1, "--loss", "mitre", "--scaling", "slack"),
            "purity": ("--C", 1, "--loss", "purity", "--predictor", "greedy"),
            "merge cost": ("--C", 1, "--merge-cost", 3),
            "fields": ("--C", 10, "--fields", "name,street", "--kind", "records"),
            "where": ("--C", 1, "--where", "set=batch 0,batch 1", "--seed", 3),
            "except": ("--C", 1, "--except", "set=batch 2"),
            "pairs": ("--learner", "pairs", "--predictor", "components"),
            "kmeans": ("--learner", "kmeans", "--C", 1),
        }
        found = {}
        for name, words in lines.items():
            model = folder / f"{name}.model"
            said = fitted(train, *COLUMNS, "--model", model, *words)
            said["weights"] = said["weights"][:12]
            judged = evaluated(test, "--model", model)
            found[name] = {"fit": said, "mean": judged["mean"], "sets": judged["sets"]}
        against = evaluated(test, "--model", folder / "cv.model", "--against", folder / "pairs.model")
        return {**found, "against": against["comparison"]}


@case
def command_news():
    """Sets of articles as JSON lines, with groups that stay together."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train, new = news(folder)
        model = folder / "m.model"
        found = {"fit": fitted(train, "--model", model)}
        found["predict"] = printed("predict", new, "--model", model)["sets"]
        found["evaluate"] = evaluated(new, "--model", model)
        found["cv"] = printed("cv", train, "--C", 1, "--folds", 3)
        found["cv"] = {key: found["cv"][key] for key in ("code", "folds", "mean", "pooled")}
        return found


@case
def command_one_table():
    """One table without sets is cut by whole clusters; large tables are blocked."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        big, other = names.make_records(n_sets=2, n_people=45, most=3, random_state=4)
        names.write_sets(folder / "big.csv", [big])
        names.write_sets(folder / "other.csv", [other])
        columns, model = (
            ("--id", "id", "--cluster", "cluster", "--fields", "name,street,city,phone,born"),
            folder / "m.model",
        )
        blocked = ("--block", 15, "--neighbours", 4)
        found = {}
        for title, words in {"cut": ("--parts", 3), "cut by itself": (), "blocked": blocked}.items():
            said = fitted(folder / "big.csv", *columns, "--C", 1, "--model", model, *words)
            judged = evaluated(folder / "other.csv", "--model", model)
            found[title] = {"fit": {**said, "weights": said["weights"][:10]}, **judged}
            out = folder / "groups.csv"
            clustruct("predict", folder / "other.csv", "--model", model, "--out", out, "--quiet")
            found[title]["groups"] = [row.split(" | ")[-1] for row in rows(out)[1:]]
        return found


@case
def command_explain():
    with records() as folder:
        model, test = folder / "m.model", folder / "test.csv"
        fitted(folder / "train.csv", *COLUMNS, "--id", "id", "--C", 1, "--model", model)
        whole = printed("explain", test, "--model", model)
        for entry in whole["least_sure_clusters"]:
            del entry["alternative"]
        whole["least_sure_items"] = whole["least_sure_items"][:8]
        one = printed("explain", test, "--model", model, "--in", "batch 4", "--top", 3)
        pair = printed("explain", test, "--model", model, "--pair", "r4-0", "r4-1")
        parts = pair.pop("contributions")
        pair.pop("fields")
        pair["contributions"] = [[p["value"], p["weight"], p["contribution"]] for p in parts]
        text = clustruct("explain", test, "--model", model, "--quiet")["code"]
        return {
            "whole": whole,
            "one set": [e["confidence"] for e in one["least_sure_items"]],
            "pair": pair,
            "text": text,
        }


@case
def command_cv():
    with records() as folder:
        train, found = folder / "train.csv", {}
        for name, words in {"C": ("--C", 1), "pairs": ("--learner", "pairs"), "cv": ("--seed", 1)}.items():
            said = printed("cv", train, *COLUMNS, "--folds", 2, *words)
            found[name] = {key: said[key] for key in ("code", "folds", "mean", "pooled")}
        return found


@case
def command_show_and_report():
    with records() as folder:
        model, page = folder / "m.model", folder / "page.html"
        fitted(folder / "train.csv", *COLUMNS, "--C", 1, "--model", model)
        shown = printed("show", "--model", model)
        shown["weights"] = list(shown["weights"].values())
        code = clustruct("report", folder / "test.csv", "--model", model, "--out", page, "--quiet")["code"]
        text = page.read_text()
        pictures = text.count("<svg") + text.count("<img")
        plain = clustruct("show", "--model", model, "--top", 3)["code"]
        return {"show": shown, "text": plain, "report": {"code": code, "pictures": pictures}}


@case
def command_exit_codes():
    with records() as folder:
        train, test, model = folder / "train.csv", folder / "test.csv", folder / "m.model"
        fitted(train, *COLUMNS, "--C", 1, "--model", model)
        (folder / "bad.jsonl").write_text('{"items": [\n')
        (folder / "empty.csv").write_text("")
        (folder / "alone.csv").write_text("name,cluster\na,1\nb,2\n")
        (folder / "cut.model").write_bytes(model.read_bytes()[:200])
        out = ("--model", folder / "new.model")
        lines = {
            "nothing": (),
            "help": ("--help",),
            "version": ("--version",),
            "unknown command": ("learn", train),
            "no model option": ("fit", train),
            "missing file": ("fit", folder / "none.csv", *COLUMNS, *out),
            "bad lines": ("fit", folder / "bad.jsonl", *out),
            "empty file": ("fit", folder / "empty.csv", *COLUMNS, *out),
            "nothing to learn": ("fit", folder / "alone.csv", "--cluster", "cluster", *out),
            "no such column": ("fit", train, "--set", "day", "--cluster", "cluster", *out),
            "no labels": ("fit", train, "--set", "set", *out),
            "no folder": ("fit", train, *COLUMNS, "--model", folder / "no" / "m.model"),
            "model over data": ("fit", train, *COLUMNS, "--model", train),
            "bad C": ("fit", train, *COLUMNS, *out, "--C", 0),
            "C is no number": ("fit", train, *COLUMNS, *out, "--C", "big"),
            "bad loss": ("fit", train, *COLUMNS, *out, "--loss", "rand"),
            "costs of another loss": ("fit", train, *COLUMNS, *out, "--loss", "mitre", "--merge-cost", 2),
            "bad predictor": ("fit", train, *COLUMNS, *out, "--C", 1, "--predictor", "magic"),
            "unknown field": ("fit", train, *COLUMNS, *out, "--fields", "size"),
            "bad where": ("fit", train, *COLUMNS, *out, "--where", "set"),
            "no rows left": ("fit", train, *COLUMNS, *out, "--where", "set=none"),
            "missing model": ("predict", test, "--model", folder / "none.model"),
            "no model": ("predict", test, "--model", test),
            "cut model": ("show", "--model", folder / "cut.model"),
            "evaluate without source": ("evaluate", test),
            "other columns": ("predict", folder / "alone.csv", "--model", model),
            "unknown set": ("explain", test, "--model", model, "--in", "none"),
            "unknown item": ("explain", test, "--model", model, "--pair", "1", "none"),
            "one fold": ("cv", train, *COLUMNS, "--folds", 1),
            "no jobs": ("fit", train, *COLUMNS, *out, "--n-jobs", 0),
            "fair": ("predict", test, "--model", model),
        }
        return {name: clustruct(*words)["code"] for name, words in lines.items()}
