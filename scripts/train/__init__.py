"""Scripts that train what is shipped as weights; some read data sets and open stores as the benchmarks do."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
