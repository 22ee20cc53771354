"""The interface of a task, one way to use BERT: its files, its model, and the service of it."""

from __future__ import annotations

from typing import ClassVar

from minibert.tasks.format import TaskFormat
from minibert.tasks.model import TaskModel
from minibert.tasks.service import TaskService


class Task(TaskFormat, TaskModel, TaskService):
    """order: position among the tasks, in the order they are taught."""

    name: ClassVar[str]
    order: ClassVar[int]
