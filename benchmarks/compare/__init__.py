"""The same small tasks in clustruct and in its peers, for docs/compare.

    python -m benchmarks.compare make out/compare                    # the data, as files
    python -m benchmarks.compare.by_clustruct out/compare            # each tool in an environment that has it
    python -m benchmarks.compare.by_dedupe out/compare
    python -m benchmarks.compare.by_splink out/compare
    python -m benchmarks.compare.by_hdbscan out/compare
    python -m benchmarks.compare.by_metric_learn out/compare
    python -m benchmarks.compare score out/compare                   # into benchmarks/figures/compare.json
    python -m benchmarks.compare render                              # and from there into the pages

metric-learn 0.7.0 needs scikit-learn below 1.6, so it wants an environment of its own: the modules of the
tools read files, and none but `by_clustruct` imports clustruct.
"""
