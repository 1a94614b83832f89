"""Charts."""
from lawsmith.charts.draw.law import law
