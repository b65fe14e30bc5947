"""Plug-ins: what other installed packages add, by name.

    plugin = find_plugin("fine.models", "mine")     # None, if no package announces it
    recipe = plugin.load()                          # imports its package, and no other

A package announces a thing by an entry point: its group says what kind of thing it is, its name is
what users write, and its value is where it is (docs/plugins.md). Names are read from metadata, so
listing them imports nothing; a plug-in is imported when its name is used for the first time. What
`fine` has itself comes first.
"""

from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from fine.errors import FineError

GROUPS = {
    "fine.models": "model",
    "fine.images": "image source",
    "fine.rules": "family of rules",
    "fine.benchmarks": "benchmark",
}
"""What the entry points of each group are."""


@dataclass(frozen=True)
class Plugin:
    """A thing that an installed package announces."""

    entry: EntryPoint

    @property
    def name(self) -> str:
        """What users write."""
        return self.entry.name

    @property
    def kind(self) -> str:
        """What it is, in words."""
        return GROUPS[self.entry.group]

    @property
    def package(self) -> str:
        """The package that it comes from, with its version."""
        made = self.entry.dist
        return f"{made.name} {made.version}" if made else self.entry.module

    def load(self) -> Any:
        """The thing itself; a broken one is an error that names its package."""
        try:
            return self.entry.load()
        except Exception as problem:  # whatever the code of others does
            raise self.refuse(f"{type(problem).__name__}: {problem}") from problem

    def refuse(self, problem: str) -> FineError:
        """The error for a plug-in that cannot be used."""
        return FineError(
            f"the {self.kind} '{self.name}' of the package {self.package} cannot be used "
            f"({problem}): update or uninstall that package"
        )


def plugins(group: str) -> list[Plugin]:
    """All plug-ins of a group, by name; nothing is imported."""
    return sorted(map(Plugin, entry_points(group=group)), key=lambda plugin: plugin.name)


def plugin_names(group: str) -> list[str]:
    """The names of a group, without those that are there twice."""
    return list(dict.fromkeys(plugin.name for plugin in plugins(group)))


def find_plugin(group: str, name: str) -> Plugin | None:
    """The plug-in of this name; None if there is none, an error if two packages have one."""
    found = [plugin for plugin in plugins(group) if plugin.name == name]
    if len({plugin.entry.value for plugin in found}) > 1:
        packages = " and ".join(plugin.package for plugin in found)
        raise FineError(
            f"{packages} both have a {GROUPS[group]} called '{name}': uninstall one of them"
        )
    return found[0] if found else None
