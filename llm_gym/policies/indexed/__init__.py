"""Text worlds as arrays of one size, so that networks of other people can be trained on them."""
