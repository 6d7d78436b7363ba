"""What was skipped for a reason that no longer holds is found by how the reason ends, on either database."""

from __future__ import annotations

import pytest

from memu.records import State

pytestmark = pytest.mark.conformance

ENDS = ["100% of it_is %_ odd", "no model looks (MEMU_VISION_MODEL)"]


@pytest.mark.parametrize("endings", [(), ENDS[:1], ENDS[1:], ENDS])
def test_p5_skipped_files_are_found_by_the_end_of_their_reason(store, make, endings):
    workspace, other = store.add_workspace(), store.add_workspace(root="/other")
    reasons = {
        "exact.png": ENDS[1],
        "longer.png": f"PNG image, 3 × 2 pixels: {ENDS[1]}",
        "signs.pdf": f"document: {ENDS[0]}",
        # In a pattern of SQL this would be the same.
        "like.pdf": "document: 100 percent of it-is xx odd",
        "goes on.png": f"{ENDS[1]} and more",
    }

    def fill(repository):
        for path, reason in reasons.items():
            repository.resources.save(make.resource(workspace, path, state=State.SKIPPED, reason=reason))
            repository.resources.save(make.resource(other, path, state=State.SKIPPED, reason=reason))
        repository.resources.save(make.resource(workspace, "failed.png", state=State.FAILED, reason=ENDS[1]))
        repository.resources.save(make.resource(workspace, "done.png", state=State.DONE))

    store.write(fill)
    found = store.read(lambda repository: repository.resources.skipped_for(workspace.id, endings))
    assert found == {path for path, reason in reasons.items() if any(map(reason.endswith, endings))}
