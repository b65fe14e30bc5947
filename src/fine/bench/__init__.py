"""What fine costs on this machine: speed of every model, parts of a step, processor use, growth.

    bench = measure(seconds=30)
    for table in bench.tables: print(table.title, table.rows)

`fine bench` prints it, writes it to a file, and compares it with an earlier one. All times are CPU
time of one thread.
"""

from fine.bench.measurements import measure
from fine.bench.results import Bench, Measured, read_bench

__all__ = ["Bench", "Measured", "measure", "read_bench"]
