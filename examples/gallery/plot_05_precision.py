"""
The precision dial
==================

Sometimes a wrong merge is worse than a missed one. While C is chosen, whole groups are held out; what
the model makes of them says which share of the pairs put together is right at each threshold, with a
bound that holds at 95 %.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from clustruct import Recipe
from clustruct.data.datasets import make_records
from clustruct.evaluate.metrics import pairwise_scores
from clustruct.evaluate.plot import PrecisionDisplay

sets = make_records(n_sets=14, n_people=25, errors=0.9, random_state=5)
train, new = sets[:10], sets[10:]
recipe = Recipe().fit(train)
model = recipe.pipeline_[-1]
print(f"C = {model.C_:g}; {model.calibration_.n_true} held-out pairs that belong together")

# %%
# Ask for a precision: the dial takes the lowest threshold whose bound reaches it. Where held-out groups
# cannot show it, the answer says so. The diamond lies above the curve of plain scores where pairs must
# also beat their rivals: the best score that either item has with an item of another group is taken off.

wanted = [0.9, 0.95, 0.98]
dials = {p: model.dial(p) for p in wanted}
for p, dial in dials.items():
    print(f"asked {p:.2f}: {dial}")

PrecisionDisplay(model.calibration_.curve, dial=dials[0.95]).plot()
plt.gcf().set_layout_engine("constrained")
plt.show()

# %%
# Does the promise hold on sets that came later? Precision and recall of new sets at each setting of the
# dial.


def on_new(precision):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a precision that cannot be shown is warned of; it was printed above
        strict = model.at_threshold(precision=precision) if precision else model
    x = recipe.pipeline_[:-1].transform(new)
    scores = [
        pairwise_scores(np.asarray(table.labels), labels)
        for table, labels in zip(new, strict.predict(x), strict=True)
    ]
    return np.mean([s.precision for s in scores]), np.mean([s.recall for s in scores])


for p in [None, *wanted]:
    precision, recall = on_new(p)
    title = "as trained" if p is None else f"asked {p:.2f}"
    print(f"{title:<12} precision {precision:.3f}  recall {recall:.3f}")
