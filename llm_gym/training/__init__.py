"""What the scripts in `train/` share: the training loop, its log and its curves."""
