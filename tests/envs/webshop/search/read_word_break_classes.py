"""Writes llm_gym/envs/webshop/search/word_break_classes.py by asking Lucene about every code point (about a minute).

Each code point is put into the contexts below; the lengths of the tokens that come out are its signature, and code points
of one signature form a class, named after a known member. Run it when Lucene's tokenizer changes:
`python tests/envs/webshop/search/read_word_break_classes.py <target file>`.
"""
