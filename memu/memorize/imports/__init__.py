"""The way in from memU: its rows become sources, entries and pages of a workspace that lies in no folder."""
