"""Which page each remembered thing stands on: decided over all sources of a workspace, by pure functions."""
