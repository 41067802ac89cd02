"""Advantage actor-critic (Mnih et al. 2016, arXiv:1602.01783) as the WebShop paper uses it, in any text world."""
