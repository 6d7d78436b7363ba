"""The workflows of a service by name, and what carries states through them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from memu.errors import ConfigurationError
from memu.workflow import Interceptor, Runner, Workflow

__all__ = ["Carrier", "Change", "Workflows"]

S = TypeVar("S")
Change = Callable[[Workflow[Any]], Workflow[Any]]
"""From a workflow to the one that is to run in its place."""


@dataclass(frozen=True, slots=True)
class Workflows:
    """The workflows as they stand after the user's changes.

    Those of one maker are made, and their rooms loaded, when the first of them is asked for: a search loads
    nothing that only a sync needs.
    """

    makers: Mapping[tuple[str, ...], Callable[[], Mapping[str, Workflow[Any]]]]
    changes: Mapping[str, Change]
    made: dict[str, Workflow[Any]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all workflows, made or not."""
        return tuple(itertools.chain.from_iterable(self.makers))

    def __getitem__(self, name: str) -> Workflow[Any]:
        """The workflow of this name; KeyError where there is none."""
        if name not in self.made:
            for names, make in self.makers.items():
                if name in names:
                    for each, workflow in make().items():
                        self.made[each] = self.changes[each](workflow) if each in self.changes else workflow
        return self.made[name]

    def apply_changes(self) -> None:
        """Make what the user changes now: a change that does not fit is an error on opening.

        Raises:
            ConfigurationError: a change is for a workflow that is not there.
        """
        for name in self.changes:
            if name not in self.names:
                raise ConfigurationError(f"No workflow is called {name!r}; there are: {', '.join(self.names)}.")
            self[name]


@dataclass(frozen=True, slots=True)
class Carrier:
    """Runs workflows by name, as they stand."""

    runner: Runner
    interceptors: tuple[Interceptor, ...]
    workflows: Workflows

    async def __call__(self, name: str, state: S) -> S:
        workflow: Workflow[S] = self.workflows[name]
        return await self.runner.run(workflow, state, self.interceptors)
