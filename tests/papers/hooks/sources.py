"""Hook modules as text: the step-by-step example of appendix A.5, and one that records its calls."""

BARE = """
import svmapi

def read_examples(filename, sparm):
    examples = []
    for line in open(filename):
        if line.find('#') >= 0: line = line[:line.find('#')]
        tokens = line.split()
        if not tokens: continue
        target = int(tokens[0])
        tokens = [tuple(t.split(':')) for t in tokens[1:]]
        features = [(int(k), float(v)) for k, v in tokens]
        examples.append((features, target))
    print(len(examples), 'examples read')
    return examples

def init_model(sample, sm, sparm):
    sm.size_psi = max(max(k for k, v in x) for x, y in sample) + 1

def psi(x, y, sm, sparm):
    return svmapi.Sparse([(k, y * v) for k, v in x])

def loss(y, ybar, sparm):
    return 1 if y != ybar else 0

def score(x, sm):
    return sum(sm.w[k] * v for k, v in x)

def classify_example(x, sm, sparm):
    return 1 if score(x, sm) >= 0 else -1

def find_most_violated_constraint(x, y, sm, sparm):
    return 1 if 2 * score(x, sm) >= y else -1
"""

OUTPUT_HOOKS = """
def print_learning_stats(sample, sm, cset, alpha, sparm):
    total = sum(loss(y, classify_example(x, sm, sparm), sparm) for x, y in sample)
    print('Average loss on train set is', float(total) / float(len(sample)))

def eval_prediction(exnum, example, ypred, sm, sparm, teststats):
    x, y = example
    if exnum == 0: teststats = 0, 0, 0
    falseneg, falsepos, truepos = teststats
    if y == 1 and ypred == 1: truepos += 1
    elif y == 1 and ypred == -1: falseneg += 1
    elif y == -1 and ypred == 1: falsepos += 1
    return falseneg, falsepos, truepos

def print_testing_stats(sample, sm, sparm, teststats):
    falseneg, falsepos, truepos = teststats
    print('Recall is %g' % (truepos / max(truepos + falseneg, 1)))
    print('Precision is %g' % (truepos / max(truepos + falsepos, 1)))

def write_label(fileptr, y):
    fileptr.write('+' if y == 1 else '-')
"""

POSITIVE = """
_read, _stats = read_examples, print_learning_stats

def read_examples(filename, sparm):
    return [([(0, 1.0)] + x, y) for x, y in _read(filename, sparm)]

def print_learning_stats(sample, sm, cset, alpha, sparm):
    _stats(sample, sm, cset, alpha, sparm)
    print('Range of sm.w: %g to %g' % (min(sm.w[1:]), max(sm.w[1:])))
"""

SHARED_SLACK = """
def init_constraints(sample, sm, sparm):
    cons = []
    for k in range(1, sm.size_psi):
        s = svmapi.Sparse([(k, 100.0)])
        d = svmapi.Document([s], slackid=len(sample) + 1)
        cons.append((d, 1.0))
    return cons
"""

KERNEL = """
_read_pairs = read_examples

def read_examples(filename, sparm):
    return [(svmapi.Sparse(x), y) for x, y in _read_pairs(filename, sparm)]

def psi(x, y, sm, sparm):
    return svmapi.Sparse(x, factor=y)

def score(x, sm):
    return sm.svm_model.classify(x)
"""

RECORDING = """
import svmapi
CALLS = []

def note(*call):
    CALLS.append(call)

def parse_parameters(sparm):
    note('parse_parameters', type(sparm), list(sparm.argv))
    sparm.extra = 'kept'

def parse_parameters_classify(attribute, value):
    note('parse_parameters_classify', attribute, value)

def read_examples(filename, sparm):
    note('read_examples', filename, type(sparm))
    return [((1.0, 0.0), 'a'), ((0.0, 1.0), 'b'), ((1.0, 0.2), 'a')]

def init_model(sample, sm, sparm):
    note('init_model', len(sample), type(sm), type(sparm))
    sm.size_psi = 4
    sm.names = ('a', 'b')

def init_constraints(sample, sm, sparm):
    note('init_constraints', len(sample), type(sm), type(sparm))
    return []

def psi(x, y, sm, sparm):
    note('psi', x, y, type(sm), type(sparm))
    return svmapi.Sparse([(2 * sm.names.index(y) + k, v) for k, v in enumerate(x)])

def loss(y, ybar, sparm):
    note('loss', y, ybar, type(sparm))
    return float(y != ybar)

def classify_example(x, sm, sparm):
    note('classify_example', x, type(sm), type(sparm))
    return max(sm.names, key=lambda y: sm.svm_model.classify(psi(x, y, sm, sparm)))

def find_most_violated_constraint_margin(x, y, sm, sparm):
    note('find_most_violated_constraint_margin', x, y, type(sm), type(sparm))
    need = lambda z: (z != y) + sm.svm_model.classify(psi(x, z, sm, sparm))
    return max(sm.names, key=need)

def find_most_violated_constraint_slack(x, y, sm, sparm):
    note('find_most_violated_constraint_slack', x, y, type(sm), type(sparm))
    return [n for n in sm.names if n != y][0]

def print_iteration_stats(ceps, cached_constraint, sample, sm, cset, alpha, sparm):
    note('print_iteration_stats', ceps, cached_constraint, len(sample), type(sm), list(cset), list(alpha))

def print_learning_stats(sample, sm, cset, alpha, sparm):
    note('print_learning_stats', len(sample), type(sm), list(cset), list(alpha), type(sparm))

def eval_prediction(exnum, example, ypred, sm, sparm, teststats):
    note('eval_prediction', exnum, example, ypred, type(sm), sparm.extra, teststats)
    return (teststats or 0) + 1

def print_testing_stats(sample, sm, sparm, teststats):
    note('print_testing_stats', len(sample), type(sm), teststats)

def write_label(fileptr, y):
    note('write_label', y)
    fileptr.write(y)

def print_help():
    print('  --learn-option')

def print_help_classify():
    print('  --classify-option')
"""

OLD = """import svmapi

def read_examples(filename, sparm):
    examples = []
    for line in file(filename):
        tokens = line.split()
        examples.append((tokens[1:], tokens[0]))
    print len(examples), 'examples read'
    return examples

def init_constraints(sample, sm, sparm):
    return [k for k in xrange(1, sm.size_psi)]

def eval_prediction(exnum, (x, y), ypred, sm, sparm, teststats):
    return teststats
"""
