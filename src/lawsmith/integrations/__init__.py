"""Bridges to other tools, each in a module of its own that alone knows the tool."""
