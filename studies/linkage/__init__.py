"""Agglomerative clustering with latent links beside correlation clustering."""
