"""Supervised k-means and spectral clustering: Tables 4.3, 4.4, Figures 4.1 to 4.4 of the dissertation."""
