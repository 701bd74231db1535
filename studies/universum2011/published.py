"""Figures of the paper: Tables 3 (accuracy in percent), 4 (NMI), 5 (Rand index) and 6 (CPU seconds)."""

METHODS = ("M2DCU", "M2DCU-0", "k-means", "NMF", "Ncut", "GMM", "CPM3C", "CLGR", "PLSA")


def _table(text: str) -> dict[str, dict[str, float]]:
    """By collection and method; a line of the text has the figures of one collection."""
    rows = [line.split() for line in text.strip().splitlines()]
    return {name: dict(zip(METHODS, map(float, row), strict=True)) for name, *row in rows}


ACCURACY = _table("""
20news          69.0  63.1  60.7  64.3  54.9  51.9  56.6  45.8  66.5
webkb           62.6  59.2  48.3  47.8  47.2  60.4  51.4  48.9  52.7
reutersv1       95.7  94.8  61.1  84.4  75.2  69.1  88.1  80.4  85.6
reuters21578-1  76.6  73.2  45.6  57.4  62.6  59.4  60.6  47.6  48.7
reuters21578-2  53.2  50.7  38.4  50.0  40.4  41.8  43.9  38.7  47.1
""")
NMI = _table("""
20news          0.408  0.361  0.357  0.443  0.252  0.205  0.278  0.209  0.476
webkb           0.372  0.340  0.283  0.342  0.181  0.333  0.307  0.242  0.335
reutersv1       0.827  0.803  0.435  0.576  0.585  0.468  0.624  0.617  0.592
reuters21578-1  0.575  0.536  0.442  0.517  0.448  0.508  0.412  0.275  0.497
reuters21578-2  0.503  0.486  0.397  0.456  0.422  0.365  0.418  0.399  0.434
""")
RAND = _table("""
20news          0.802  0.740  0.701  0.727  0.591  0.669  0.711  0.598  0.785
webkb           0.794  0.698  0.654  0.740  0.643  0.689  0.667  0.609  0.737
reutersv1       0.952  0.934  0.618  0.814  0.778  0.715  0.855  0.839  0.825
reuters21578-1  0.840  0.799  0.741  0.778  0.673  0.784  0.691  0.614  0.759
reuters21578-2  0.854  0.808  0.800  0.860  0.792  0.834  0.748  0.813  0.847
""")
SECONDS = _table("""
20news          801  789  15204  35515  151760  105440  22838  207752  10032
webkb           232  307  1940   3465   771     18373   190    821     682
reutersv1       576  304  6303   32355  128810  21495   2264   162374  7551
reuters21578-1  685  662  3449   4065   1094    11445   382    4203    447
reuters21578-2  735  691  465    346    99      1550    256    119     197
""")
