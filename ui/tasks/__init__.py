"""Views of the tasks, by name. Each file here defines a `TaskView` whose `name` is that of its task; views are found
automatically."""

from importlib import import_module
from pkgutil import iter_modules

from minibert.tasks import TASKS
from ui.tasks.base import TaskView


def discovered() -> dict[str, TaskView]:
    """Name → view, for all `TaskView` classes with a name in this folder, in the order of the tasks."""
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    kinds = [kind for module in modules for kind in vars(module).values() if isinstance(kind, type)]
    views = [kind() for kind in dict.fromkeys(kinds) if issubclass(kind, TaskView) and "name" in vars(kind)]
    return {view.name: view for view in sorted(views, key=lambda view: TASKS[view.name].order)}


VIEWS: dict[str, TaskView] = discovered()
