"""Figures of the paper: Table 3 (accuracy in percent)."""

ACCURACY = {
    "20news": {"M2DCU": 69.0, "M2DCU-0": 63.1, "k-means": 60.7, "NMF": 64.3, "Ncut": 54.9, "GMM": 51.9}
    | {"CPM3C": 56.6, "CLGR": 45.8, "PLSA": 66.5},
    "webkb": {"M2DCU": 62.6, "M2DCU-0": 59.2, "k-means": 48.3, "NMF": 47.8, "Ncut": 47.2, "GMM": 60.4}
    | {"CPM3C": 51.4, "CLGR": 48.9, "PLSA": 52.7},
}
