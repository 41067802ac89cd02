"""WebShop: a shop of products, instructions of shoppers, and a reward for what is bought (Yao et al., 2022)."""
