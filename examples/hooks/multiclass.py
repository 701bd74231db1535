"""Multiclass classification as a hook module: Psi(x, y) puts x in block y.

    clustruct-learn --m multiclass -c 100 train.dat model
    clustruct-classify --m multiclass test.dat model predictions

Files hold a class number (from 1) and index:value pairs (index from 1) on each line.
"""

import svmapi


def read_examples(filename, sparm):
    examples = []
    with open(filename) as lines:
        for line in lines:
            tokens = line.partition("#")[0].split()
            if tokens:
                words = [token.split(":") for token in tokens[1:]]
                x = svmapi.Sparse([(int(k) - 1, float(v)) for k, v in words])
                examples.append((x, int(tokens[0]) - 1))
    return examples


def init_model(sample, sm, sparm):
    # Attributes of sm are saved with the model.
    sm.n_features = 1 + int(max(x.indices[-1] for x, y in sample))
    sm.n_classes = 1 + max(y for x, y in sample)
    sm.size_psi = sm.n_features * sm.n_classes


def psi(x, y, sm, sparm):
    return x.shifted(y * sm.n_features)


def scores(x, sm):
    """<w, Psi(x, y)> for every class y."""
    W = sm.w.reshape(sm.n_classes, sm.n_features)
    return W.take(x.indices, axis=1) @ x.values


def classify_example(x, sm, sparm):
    return int(scores(x, sm).argmax())


def find_most_violated_constraint_margin(x, y, sm, sparm):
    needs = scores(x, sm) + 1.0
    needs[y] -= 1.0
    return int(needs.argmax())


def find_most_violated_constraint_slack(x, y, sm, sparm):
    gain = scores(x, sm)
    needs = 1.0 + gain - gain[y]
    needs[y] = 0.0
    return int(needs.argmax())


def write_label(fileptr, y):
    fileptr.write(f"{y + 1}\n")
