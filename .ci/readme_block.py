"""Print a code block of the README: the one after the line `<!-- block: NAME -->`."""

import re
import sys
from pathlib import Path

readme = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
found = re.search(rf"<!-- block: {re.escape(sys.argv[1])} -->\n```\w+\n(.*?)```", readme, re.DOTALL)
if found is None:
    sys.exit(f"README.md has no block {sys.argv[1]!r}")
sys.stdout.write(found[1])
