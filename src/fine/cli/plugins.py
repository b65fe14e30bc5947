"""`fine plugins`"""

from rich.table import Table

from fine.cli.arguments import options
from fine.cli.terminal import console, say
from fine.errors import FineError
from fine.plugins import GROUPS, Plugin, plugins


@options()
class ShowPlugins:
    """List what other installed packages add: models, image sources, families of rules and
    benchmarks."""

    check: bool = False
    """Import each of them, and say which cannot be used."""

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


def _state(plugin: Plugin) -> str:
    """Whether a plug-in can be imported."""
    try:
        plugin.load()
    except FineError as problem:
        return str(problem)
    return "yes"
