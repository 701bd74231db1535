"""Figures of the dissertation: Tables 3.1 to 3.5 and section 3.6.7 (loss in percent; MUC-6, its own news)."""

# Table 3.1: noun phrases, tested with C_G; trained with C_G for the loss it is tested on, PCC, default.
COREFERENCE = {
    "mitre": {"C_G": 41.3, "PCC": 51.6, "default": 51.0},
    "pairwise": {"C_G": 2.89, "PCC": 3.15, "default": 3.59},
}
# Tables 3.2 and 3.5: news, by the clustering that tests and the one that trains.
NEWS = {
    "C_G": {"C_G": 2.36, "C_R": 2.43, "PCC": 2.45, "default": 9.45},
    "C_R*": {"C_G": 2.04, "C_R": 2.08, "PCC": 1.96, "default": 9.45},
}
# Table 3.3: noun phrases, by the loss that is counted and the one that was trained for.
LOSSES = {"mitre": {"mitre": 41.3, "pairwise": 42.8}, "pairwise": {"mitre": 4.06, "pairwise": 2.89}}
# Table 3.4: with the loss in the search for violated clusterings, and without.
WITHOUT_LOSS = {
    "coreference, mitre": (41.3, 41.1),
    "coreference, pairwise": (2.89, 2.81),
    "news, C_G": (2.36, 2.42),
    "news, C_R": (2.08, 2.16),
}
# 3.6.7: cosines of the weights (Figure 3.3).
COSINES = {"C_G and C_R": 0.999, "C_G and PCC": 0.205, "C_R and PCC": 0.205}
