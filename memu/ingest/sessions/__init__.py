"""Logs of coding agents: from records to events, from events to turns, from turns to blocks."""
