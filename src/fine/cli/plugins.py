"""`fine plugins`"""

from collections.abc import Callable
from typing import Any

from rich.table import Table

from fine.cli.arguments import options
from fine.cli.terminal import console, say
from fine.errors import FineError
from fine.models import registry as models
from fine.models.registry import find_model
from fine.plugins import GROUPS, Plugin, plugins
from fine.rules import families
from fine.rules.families import add_plugin


@options()
class ShowPlugins:
    """List what other installed packages add: models, image sources, families of rules and
    benchmarks."""

    check: bool = False
    """Import each of them, and say which is not what its group expects."""

    def run(self) -> None:
        found = [plugin for group in GROUPS for plugin in plugins(group)]
        if not found:
            say("no installed package adds anything: docs/plugins.md says how one does")
            return
        table = Table("name", "what", "package", *(("works",) if self.check else ()))
        for plugin in found:
            shown = (plugin.name, plugin.kind, plugin.package)
            works = (_state(plugin),) if self.check else ()
            table.add_row(*shown, *works)
        console.print(table)


_FINDERS: dict[str, Callable[[str], Any]] = {
    models.PLUGINS: find_model,
    families.PLUGINS: add_plugin,
}
"""Groups whose things can be looked up by name without files; the others are functions."""


def _state(plugin: Plugin) -> str:
    """Whether a plug-in can be imported, and is a thing of its group."""
    find = _FINDERS.get(plugin.entry.group)
    try:
        thing = plugin.load()
        if find is not None:
            find(plugin.name)
        elif not callable(thing):
            raise plugin.refuse(f"expected a function, not {type(thing).__name__}")
    except FineError as problem:
        return str(problem)
    return "yes"
