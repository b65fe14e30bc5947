"""What a model loses with its least used slots, or with slots of a lower rank.

    python benchmarks/pruning.py [MODEL [PUZZLES]]

Use is measured on training puzzles of the model's own task, accuracy on its test puzzles.
"""

import sys
from dataclasses import replace

from fine import FINE, FineError, Puzzles, evaluate
from fine.models.surgery import compress, memories, prune, slot_use
from fine.pretrained import load, trained_on

RANKS = (12, 8, 4, 2, 1)


def main(name: str = "affine-omniglot", count: str = "2000") -> None:
    model, task = load(name), trained_on(name)
    if task is None or not isinstance(model, FINE):
        raise FineError(f"{name} is no `fine` that says what it was trained on: give another model")
    use = slot_use(model, replace(task, train_count=1000).training_puzzles())
    puzzles = replace(task, test_count=int(count)).test_puzzles()
    shares = enumerate((use / use.sum()).tolist())
    print(f"{name}, {task.rules} over {task.images}, {len(puzzles):,} test puzzles")
    print("share of each slot:", ", ".join(f"{slot}: {share:.0%}" for slot, share in shares))
    print("\n| slots | of their numbers | accuracy | 95 % interval |\n|---|---|---|---|")
    most_used_first = use.argsort(descending=True).tolist()
    for kept in range(len(most_used_first), 0, -1):
        print_row(str(kept), prune(model, keep=most_used_first[:kept]), model, puzzles)
    for rank in (rank for rank in RANKS if rank < model.encoder.rows):
        print_row(f"rank {rank}", compress(model, rank=rank), model, puzzles)


def print_row(what: str, smaller: FINE, model: FINE, puzzles: Puzzles) -> None:
    """A row of the table."""
    share = numbers(smaller) / numbers(model)
    evaluation = evaluate(smaller, puzzles)
    low, high = evaluation.interval
    cells = (what, f"{share:.0%}", f"{evaluation.accuracy:.1%}", f"{low:.1%} – {high:.1%}")
    print("| " + " | ".join(cells) + " |", flush=True)


def numbers(model: FINE) -> int:
    """Numbers in the memories of a model."""
    return sum(parameter.numel() for memory in memories(model) for parameter in memory.parameters())


if __name__ == "__main__":
    main(*sys.argv[1:])
