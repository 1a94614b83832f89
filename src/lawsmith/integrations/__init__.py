"""Bridges to other tools; each is in a package of its own, the only one that imports the tool."""
