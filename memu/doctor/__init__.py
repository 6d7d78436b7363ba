"""How the store and its workspaces stand, told without writing anything: ``memu status`` and ``memu doctor``."""
