"""Settings: an argument wins over ``MEMU_*`` in the environment, that over the user's config file, that over
the default.

The config file is ``config.toml`` in the user's own configuration directory (``MEMU_CONFIG`` names another
one; set but empty, it means none). A synced folder's files never set anything here.
"""

from __future__ import annotations

from memu.providers.endpoint import Endpoint
from memu.settings.places import STORE_FOLDER, locate_store, store_path
from memu.settings.scope_models import check_scope_model
from memu.settings.scopes import WorkspaceScope, conditions_of, fit, scope_of
from memu.settings.standing_scopes import check_standing_scopes
from memu.settings.values import Settings, config_file

__all__ = [
    "STORE_FOLDER",
    "Endpoint",
    "Settings",
    "WorkspaceScope",
    "check_scope_model",
    "check_standing_scopes",
    "conditions_of",
    "config_file",
    "fit",
    "locate_store",
    "scope_of",
    "store_path",
]
