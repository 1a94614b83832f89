"""The suite 'methods': the frontier policy, its parts and its rivals, compared on many studies."""
