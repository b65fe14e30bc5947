"""What fine costs on this machine, measured: speeds of every model, parts of a step, use of the processor, growth.

    bench = measure(seconds=30)
    for table in bench.tables: print(table.title, table.rows)

`fine bench` prints it, keeps it, and sets it beside an earlier one. All of it is CPU time of one thread.
"""

from fine.bench.measuring import measure
from fine.bench.tables import Bench, Measured, read_bench

__all__ = ["Bench", "Measured", "measure", "read_bench"]
