"""What every test stands on: no setting of the person who runs them reaches memu."""

from __future__ import annotations

import os

for _name in [name for name in os.environ if name.startswith(("MEMU_", "OPENAI_"))]:
    del os.environ[_name]
os.environ["MEMU_CONFIG"] = ""
