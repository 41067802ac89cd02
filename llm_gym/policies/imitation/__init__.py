"""The learned expert of the WebShop paper: a model that writes queries and one that chooses among clicks."""
