"""What a model loses with its least used slots, and with slots of a lower rank: python benchmarks/pruning.py [MODEL [PUZZLES]]

Use is measured on training puzzles of the model's own task, accuracy on its test puzzles.
"""

import sys
from dataclasses import replace

import fine
from fine.models.growing import compress, memories, prune, use
from fine.pretrained import load, trained_on


def main(name: str = "affine-omniglot", count: str = "2000") -> None:
    model, task = load(name), trained_on(name)
    if task is None:
        raise SystemExit(f"{name} does not say what it was trained on")
    found = use(model, replace(task, train_count=1000).training_puzzles())
    order = found.argsort(descending=True).tolist()
    puzzles = replace(task, test_count=int(count)).test_puzzles()
    shares = ", ".join(f"{number}: {share:.0%}" for number, share in enumerate((found / found.sum()).tolist()))
    print(f"{name}, {task.rules} over {task.images}, {len(puzzles):,} test puzzles\nshare of each slot: {shares}\n")
    print("| slots | of their numbers | accuracy | 95 % interval |\n|---|---|---|---|")
    for kept in range(len(order), 0, -1):
        show(str(kept), prune(model, keep=order[:kept]), model, puzzles)
    for rank in (rank for rank in (12, 8, 4, 2, 1) if rank < model.encoder.rows):
        show(f"rank {rank}", compress(model, rank=rank), model, puzzles)


def show(what: str, smaller: fine.FINE, model: fine.FINE, puzzles: fine.Puzzles) -> None:
    """A row of the table."""
    share = numbers(smaller) / numbers(model)
    evaluation = fine.evaluate(smaller, puzzles)
    low, high = evaluation.interval
    print(f"| {what} | {share:.0%} | {evaluation.accuracy:.1%} | {low:.1%} – {high:.1%} |", flush=True)


def numbers(model: fine.FINE) -> int:
    """Numbers in the memories of a model."""
    return sum(parameter.numel() for memory in memories(model) for parameter in memory.parameters())


if __name__ == "__main__":
    main(*sys.argv[1:])
