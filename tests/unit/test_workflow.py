"""The workflow engine: contracts checked when wired and after every step, interceptors nested like ``with``."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from memu.errors import WorkflowError
from memu.workflow import Interceptor, LocalRunner, Step, StepEvent, Workflow


@dataclass(frozen=True, slots=True, kw_only=True)
class Tea:
    leaves: int
    water: int = 0
    cups: int = 0
    log: tuple[str, ...] = ()


@dataclass
class Thawed:
    leaves: int = 0


async def boil(state: Tea) -> Tea:
    return replace(state, water=state.leaves * 2)


async def pour(state: Tea) -> Tea:
    return replace(state, cups=state.water // 2)


async def spill(state: Tea) -> Tea:
    raise ValueError("spilt")


async def pour_secretly(state: Tea) -> Tea:
    return replace(state, cups=1, leaves=0)


async def return_nothing(state: Tea) -> Tea:
    return None  # type: ignore[return-value]


def brewing(*steps: Step[Tea]) -> Workflow[Tea]:
    return Workflow("brew", Tea, ["leaves"], steps or (BOIL, POUR))


BOIL = Step("boil", boil, reads=["leaves"], writes=["water"])
POUR = Step("pour", pour, reads=["water"], writes=["cups"])


@dataclass
class Recorder(Interceptor):
    name: str
    lines: list[str]
    fail_after: str = ""
    events: list[StepEvent] = field(default_factory=list)

    async def before(self, event: StepEvent) -> None:
        self.lines.append(f"{self.name} before {event.step}")
        self.events.append(event)

    async def after(self, event: StepEvent) -> None:
        self.lines.append(f"{self.name} after {event.step}")
        self.events.append(event)
        if event.step == self.fail_after:
            raise RuntimeError(f"{self.name} refuses {event.step}")

    async def on_error(self, event: StepEvent) -> None:
        self.lines.append(f"{self.name} error {event.step} {type(event.error).__name__}")
        self.events.append(event)


async def test_steps_run_in_order() -> None:
    assert await LocalRunner().run(brewing(), Tea(leaves=3)) == Tea(leaves=3, water=6, cups=3)


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ((BOIL, BOIL), "two steps named 'boil'"),
        ((POUR,), "reads 'water', which no step before it writes"),
        ((BOIL, Step("pour", pour, reads=["milk"])), "no field 'milk'"),
        ((BOIL, Step("pour", pour, writes=["sugar"])), "no field 'sugar'"),
    ],
)
def test_a_workflow_that_does_not_fit_is_refused_when_wired(steps: tuple[Step[Tea], ...], message: str) -> None:
    with pytest.raises(WorkflowError, match=message):
        brewing(*steps)


def test_unknown_inputs_and_thawed_states_are_refused() -> None:
    with pytest.raises(WorkflowError, match="no field 'milk'"):
        Workflow("brew", Tea, ["milk"], [])
    with pytest.raises(WorkflowError, match="frozen dataclass"):
        Workflow("brew", Thawed, ["leaves"], [])


async def test_edits_give_new_checked_workflows_and_leave_the_old_one() -> None:
    taste = Step("taste", pour, reads=["water"], writes=["cups"])
    old = brewing()
    assert [step.name for step in old.inserting_after("boil", taste).steps] == ["boil", "taste", "pour"]
    assert [step.name for step in old.inserting_before("pour", taste).steps] == ["boil", "taste", "pour"]
    assert [step.name for step in old.without("pour").steps] == ["boil"]
    assert [step.name for step in old.steps] == ["boil", "pour"]
    with pytest.raises(WorkflowError, match="reads 'water'"):
        old.inserting_before("boil", taste)
    with pytest.raises(WorkflowError, match="reads 'water'"):
        old.without("boil")
    with pytest.raises(WorkflowError, match="no step 'stir'; it has: boil, pour"):
        old.without("stir")


async def test_replacing_by_a_callable_keeps_the_contract_and_by_a_step_brings_its_own() -> None:
    async def strong(state: Tea) -> Tea:
        return replace(state, cups=99)

    kept = brewing().replacing("pour", strong)
    assert kept.steps[1].writes == {"cups"}
    assert (await LocalRunner().run(kept, Tea(leaves=1))).cups == 99
    own = brewing().replacing("pour", Step("serve", strong, writes=["cups", "log"]))
    assert [step.name for step in own.steps] == ["boil", "serve"]


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (pour_secretly, "changed 'leaves', which its `writes` does not name"),
        (return_nothing, "returned a NoneType"),
    ],
)
async def test_a_step_is_held_to_what_it_declares(run: object, message: str) -> None:
    workflow = brewing().replacing("pour", run)  # type: ignore[arg-type]
    with pytest.raises(WorkflowError, match=message):
        await LocalRunner().run(workflow, Tea(leaves=1))


async def test_a_state_of_another_type_is_refused() -> None:
    with pytest.raises(WorkflowError, match="takes a Tea, not a str"):
        await LocalRunner().run(brewing(), "tea")  # type: ignore[type-var]


async def test_errors_keep_their_type_and_gain_a_note() -> None:
    with pytest.raises(ValueError, match="spilt") as caught:
        await LocalRunner().run(brewing().replacing("pour", spill), Tea(leaves=1))
    assert caught.value.__notes__ == ["in step 'pour' of workflow 'brew'"]


async def test_interceptors_nest_like_with_blocks() -> None:
    lines: list[str] = []
    await LocalRunner().run(brewing(BOIL), Tea(leaves=1), [Recorder("outer", lines), Recorder("inner", lines)])
    assert lines == ["outer before boil", "inner before boil", "inner after boil", "outer after boil"]


async def test_an_interceptor_sees_one_frozen_event_with_state_result_and_time() -> None:
    recorder = Recorder("only", [])
    await LocalRunner().run(brewing(), Tea(leaves=2), [recorder])
    before, after = recorder.events[2:]
    assert (before.workflow, before.step, before.position) == ("brew", "pour", 1)
    assert before.state == Tea(leaves=2, water=4)
    assert before.result is None
    assert after.result == Tea(leaves=2, water=4, cups=2)
    assert after.seconds >= 0
    with pytest.raises(AttributeError):
        after.step = "other"  # type: ignore[misc]


async def test_errors_of_steps_and_of_inner_interceptors_reach_the_outer_ones() -> None:
    lines: list[str] = []
    interceptors = [Recorder("outer", lines), Recorder("inner", lines, fail_after="boil")]
    with pytest.raises(RuntimeError, match="inner refuses boil"):
        await LocalRunner().run(brewing(), Tea(leaves=1), interceptors)
    assert lines[-2:] == ["inner after boil", "outer error boil RuntimeError"]
    lines.clear()
    with pytest.raises(ValueError, match="spilt"):
        await LocalRunner().run(brewing().replacing("boil", spill), Tea(leaves=1), [Recorder("only", lines)])
    assert lines == ["only before boil", "only error boil ValueError"]
