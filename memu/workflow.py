"""A small workflow engine: named steps over one frozen state, checked when wired and after every step.

It knows nothing about memory. A workflow is a value: ``replacing``, ``inserting_before``, ``inserting_after`` and
``without`` give new, checked ones. A runner carries a state through the steps; interceptors watch, nested like
``with`` blocks.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from memu.errors import WorkflowError

__all__ = ["Interceptor", "LocalRunner", "Runner", "Step", "StepEvent", "Workflow"]

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Step(Generic[S]):
    """One named piece of work: ``run`` takes the state and returns a new one.

    ``reads`` and ``writes`` name fields of the state. A step with collaborators passes a small frozen callable
    dataclass as ``run``; the state itself carries no service and no session.
    """

    name: str
    run: Callable[[S], Awaitable[S]]
    reads: frozenset[str]
    writes: frozenset[str]

    def __init__(
        self,
        name: str,
        run: Callable[[S], Awaitable[S]],
        reads: Iterable[str] = (),
        writes: Iterable[str] = (),
    ) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "run", run)
        object.__setattr__(self, "reads", frozenset(reads))
        object.__setattr__(self, "writes", frozenset(writes))


@dataclass(frozen=True, slots=True)
class Workflow(Generic[S]):
    """An immutable, checked row of steps over ``state_type``. ``inputs`` are the fields set before the first step.

    Raises:
        WorkflowError: on construction, when two steps share a name, a field does not exist, the state type is
            not a frozen dataclass, or a step reads what nothing before it wrote.
    """

    name: str
    state_type: type[S]
    inputs: frozenset[str]
    steps: tuple[Step[S], ...]

    def __init__(self, name: str, state_type: type[S], inputs: Iterable[str], steps: Iterable[Step[S]]) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "state_type", state_type)
        object.__setattr__(self, "inputs", frozenset(inputs))
        object.__setattr__(self, "steps", tuple(steps))
        self._check()

    def replacing(self, name: str, run: Callable[[S], Awaitable[S]] | Step[S]) -> Workflow[S]:
        """The workflow with step ``name`` doing ``run`` instead. A bare callable keeps the step's contract."""
        index = self._index(name)
        old = self.steps[index]
        new = run if isinstance(run, Step) else Step(old.name, run, old.reads, old.writes)
        return self._with((*self.steps[:index], new, *self.steps[index + 1 :]))

    def inserting_before(self, name: str, step: Step[S]) -> Workflow[S]:
        """The workflow with ``step`` run just before step ``name``."""
        index = self._index(name)
        return self._with((*self.steps[:index], step, *self.steps[index:]))

    def inserting_after(self, name: str, step: Step[S]) -> Workflow[S]:
        """The workflow with ``step`` run just after step ``name``."""
        index = self._index(name) + 1
        return self._with((*self.steps[:index], step, *self.steps[index:]))

    def without(self, name: str) -> Workflow[S]:
        """The workflow without step ``name``; refused when a later step needs what it writes."""
        index = self._index(name)
        return self._with((*self.steps[:index], *self.steps[index + 1 :]))

    def _with(self, steps: Sequence[Step[S]]) -> Workflow[S]:
        return Workflow(self.name, self.state_type, self.inputs, steps)

    def _index(self, name: str) -> int:
        for index, step in enumerate(self.steps):
            if step.name == name:
                return index
        known = ", ".join(step.name for step in self.steps)
        raise WorkflowError(f"Workflow {self.name!r} has no step {name!r}; it has: {known}.")

    def _check(self) -> None:
        params = getattr(self.state_type, "__dataclass_params__", None)
        if params is None or not params.frozen:
            raise WorkflowError(f"Workflow {self.name!r}: its state must be a frozen dataclass.")
        fields = {item.name for item in dataclasses.fields(self.state_type)}  # type: ignore[arg-type]
        if unknown := self.inputs - fields:
            raise WorkflowError(f"Workflow {self.name!r}: its state has no field {_listed(unknown)}.")
        written, seen = set(self.inputs), set[str]()
        for step in self.steps:
            if step.name in seen:
                raise WorkflowError(f"Workflow {self.name!r} has two steps named {step.name!r}.")
            seen.add(step.name)
            if unknown := (step.reads | step.writes) - fields:
                raise WorkflowError(
                    f"Workflow {self.name!r}, step {step.name!r}: its state has no field {_listed(unknown)}."
                )
            if early := step.reads - written:
                raise WorkflowError(
                    f"Workflow {self.name!r}, step {step.name!r} reads {_listed(early)}, "
                    "which no step before it writes."
                )
            written |= step.writes


@dataclass(frozen=True, slots=True, kw_only=True)
class StepEvent:
    """What an interceptor is told: which step of which workflow, the state it got, and how it went.

    ``position`` counts from 0. ``result`` is set after a step that succeeded, ``error`` after one that raised;
    ``seconds`` is the time it took, 0.0 before it runs.
    """

    workflow: str
    step: str
    position: int
    state: Any
    result: Any = None
    error: BaseException | None = None
    seconds: float = 0.0


class Interceptor:
    """Watches steps. Override what you need; the first one given is the outermost, as with ``with`` blocks."""

    async def before(self, event: StepEvent) -> None:
        """Called before a step runs."""

    async def after(self, event: StepEvent) -> None:
        """Called after a step succeeded and its result was checked."""

    async def on_error(self, event: StepEvent) -> None:
        """Called after a step raised; the error goes on afterwards."""


class Runner(Protocol):
    """Carries a state through a workflow's steps."""

    async def run(self, workflow: Workflow[S], state: S, interceptors: Sequence[Interceptor] = ()) -> S:
        """The state after the last step."""


@dataclass(frozen=True, slots=True)
class LocalRunner:
    """Runs the steps one after another in this task."""

    async def run(self, workflow: Workflow[S], state: S, interceptors: Sequence[Interceptor] = ()) -> S:
        """The state after the last step.

        Raises:
            WorkflowError: the state is of another type, or a step changed a field that it does not declare.
            Exception: whatever a step or an interceptor raised, its type kept, with a note naming it, the step and
                the workflow.
        """
        if type(state) is not workflow.state_type:
            raise WorkflowError(
                f"Workflow {workflow.name!r} takes a {workflow.state_type.__name__}, not a {type(state).__name__}."
            )
        for position, step in enumerate(workflow.steps):
            event = StepEvent(workflow=workflow.name, step=step.name, position=position, state=state)
            state = await _watched(workflow, step, event, tuple(interceptors))
        return state


async def _watched(
    workflow: Workflow[S], step: Step[S], event: StepEvent, interceptors: tuple[Interceptor, ...]
) -> S:
    """One step inside its interceptors: an inner one's error is an error to those around it."""
    if not interceptors:
        return await _run_step(workflow, step, event.state)
    outer, inner = interceptors[0], interceptors[1:]
    started = time.perf_counter()
    await _tell(outer.before, event)
    try:
        result = await _watched(workflow, step, event, inner)
    except BaseException as error:
        await _tell(outer.on_error, dataclasses.replace(event, error=error, seconds=time.perf_counter() - started))
        raise
    await _tell(outer.after, dataclasses.replace(event, result=result, seconds=time.perf_counter() - started))
    return result


async def _tell(hook: Callable[[StepEvent], Awaitable[None]], event: StepEvent) -> None:
    try:
        await hook(event)
    except BaseException as error:
        name = getattr(hook, "__qualname__", repr(hook))
        error.add_note(f"in interceptor {name} at step {event.step!r} of workflow {event.workflow!r}")
        raise


async def _run_step(workflow: Workflow[S], step: Step[S], state: S) -> S:
    try:
        result = await step.run(state)
        _check_result(workflow, step, state, result)
    except BaseException as error:
        error.add_note(f"in step {step.name!r} of workflow {workflow.name!r}")
        raise
    return result


def _check_result(workflow: Workflow[S], step: Step[S], state: S, result: object) -> None:
    if type(result) is not workflow.state_type:
        raise WorkflowError(
            f"Step {step.name!r} returned a {type(result).__name__}, not a {workflow.state_type.__name__}."
        )
    changed = {
        item.name
        for item in dataclasses.fields(workflow.state_type)  # type: ignore[arg-type]
        if getattr(state, item.name) is not getattr(result, item.name)
        and getattr(state, item.name) != getattr(result, item.name)
    }
    if undeclared := changed - step.writes:
        raise WorkflowError(f"Step {step.name!r} changed {_listed(undeclared)}, which its `writes` does not name.")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(repr(name) for name in names))
