"""
What a similarity is made of
============================

The similarity of two items is a sum over features: weight times value. So it can be taken apart, feature
by feature or field by field, and the parts add up to the whole exactly.
"""

import matplotlib.pyplot as plt
import numpy as np

from clustruct import Recipe
from clustruct.data.datasets import make_records
from clustruct.evaluate.explain import by_field, feature_fields, pair_contributions
from clustruct.evaluate.plot import PairContributionDisplay, WeightsDisplay

sets = make_records(n_sets=5, n_people=20, errors=0.6, random_state=2)
recipe = Recipe(C=1.0).fit(sets[:4])
features, model = recipe.pipeline_[:-1], recipe.pipeline_[-1]
new = sets[4]
(x,) = features.transform([new])

# %%
# What was learned, the largest weights first. Each is shown times the usual size of its feature, so that
# bars compare.

WeightsDisplay.from_estimator(model)
plt.gcf().set_layout_engine("constrained")
plt.show()

# %%
# Two records of one person that look least alike, as the model sees it:

K = model.decision_function(x)
labels = np.asarray(new.labels)
a, b = np.triu_indices(len(new), 1)
mates = labels[a] == labels[b]
worst = np.flatnonzero(mates)[np.argmin(K[a[mates], b[mates]])]
first, second = int(a[worst]), int(b[worst])
for item in (new.items[first], new.items[second]):
    print(item)

# %%
# The waterfall: from zero, feature by feature, to the similarity. Above zero speaks for "together".

PairContributionDisplay.from_estimator(model, x, first, second)
plt.gcf().set_layout_engine("constrained")
plt.show()

# %%
# Is it exact? The sum of the contributions is the similarity, to the last digits.

found = pair_contributions(model, x, first, second)
print(f"sum of contributions {found.contributions.sum():+.6f}, similarity {K[first, second]:+.6f}")
print("together in the answer:", bool(model.predict(x)[first] == model.predict(x)[second]))

# %%
# Summed by field it is shorter: this is what ``clustruct explain`` prints first.

for field in by_field(found, feature_fields(features[0])):
    print(f"{field.contribution:+.3f}  {field.field}")
