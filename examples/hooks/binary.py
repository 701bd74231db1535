"""Binary classification as a hook module, for files of SVM^light's format (label index:value ...).

    clustruct-learn --m binary -c 100 train.dat model
    clustruct-classify --m binary test.dat model predictions

With "--positive 1" all weights but the bias are kept at zero or above; with "-t 2" it uses a kernel.
"""

import svmapi


def parse_parameters(sparm):
    options = dict(zip(sparm.argv[::2], sparm.argv[1::2], strict=True))
    sparm.positive = options.get("--positive", "0") == "1"


def print_help():
    print("  --positive 0|1   keep all weights but the bias at 0 or above (linear models)")


def read_examples(filename, sparm):
    examples = []
    with open(filename) as lines:
        for line in lines:
            tokens = line.partition("#")[0].split()
            if tokens:
                words = [token.split(":") for token in tokens[1:]]
                # Index 0 does not occur in such files: it is free for the bias.
                x = svmapi.Sparse([(0, 1.0)] + [(int(k), float(v)) for k, v in words])
                examples.append((x, int(tokens[0])))
    return examples


def init_model(sample, sm, sparm):
    sm.size_psi = 1 + max(x.indices[-1] for x, y in sample)


def init_constraints(sample, sm, sparm):
    if not sparm.positive:
        return []
    # No slackid: the constraint <w, e_k> >= 0 is kept exactly.
    return [(svmapi.Document([svmapi.Sparse([(k, 1.0)])]), 0.0) for k in range(1, sm.size_psi)]


def psi(x, y, sm, sparm):
    return svmapi.Sparse(x, factor=0.5 * y)


def classify_example(x, sm, sparm):
    return 1 if sm.svm_model.classify(x) >= 0 else -1


def find_most_violated_constraint(x, y, sm, sparm):
    # The wrong label needs the slack 1 - y <w, x>, the right one 0.
    return -y if y * sm.svm_model.classify(x) < 1 else y


def print_learning_stats(sample, sm, cset, alpha, sparm):
    wrong = sum(classify_example(x, sm, sparm) != y for x, y in sample)
    print(f"Average loss on train set is {wrong / len(sample):g}")


def eval_prediction(exnum, example, ypred, sm, sparm, teststats):
    counts = teststats or {"true": 0, "found": 0, "both": 0}
    y = example[1]
    counts["true"] += y == 1
    counts["found"] += ypred == 1
    counts["both"] += y == ypred == 1
    return counts


def print_testing_stats(sample, sm, sparm, teststats):
    print(f"Recall is {teststats['both'] / max(teststats['true'], 1):g}")
    print(f"Precision is {teststats['both'] / max(teststats['found'], 1):g}")
