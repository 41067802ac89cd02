"""BUTLER's text agent (arXiv:2010.03768): it reads what it sees, and writes its next command word by word."""
