"""Labels that depend on each other: which of ten labels is on shows in the number of features, not in which.

    python -m examples.multilabel

A classifier per label cannot learn this: a linear score cannot single out a middle number. With a weight
for every pair of labels the model can, and training by graph cuts leaves no label undecided.
"""

from clustruct.papers.multilabel import MultiLabelMRF, make_multilabel_count


def main() -> None:
    X, Y = make_multilabel_count(1000, random_state=1)
    test_X, test_Y = make_multilabel_count(2000, random_state=2)
    for edges, oracle in (("none", "exact"), ("full", "exact"), ("full", "graph_cut")):
        model = MultiLabelMRF(C=30000.0, edges=edges, oracle=oracle, formulation="one_slack", rtol=0.01)
        model.fit(X, Y)
        wrong = 100 * (1 - model.score(test_X, test_Y))
        undecided = 100 * model.undecided_share(test_X)
        print(
            f"edges {edges}, oracle {oracle}: {wrong:.1f}% of the labels wrong, {undecided:.1f}% undecided "
            f"by the relaxation, {model.result_.seconds:.1f} s of training"
        )


if __name__ == "__main__":
    main()
