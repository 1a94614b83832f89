"""Charts."""
from lawsmith.charts.draw.law import law
from lawsmith.charts.draw.curves import curves
from lawsmith.charts.draw.isoflop import isoflop
from lawsmith.charts.draw.allocation import allocation
from lawsmith.charts.draw.residuals import residuals
from lawsmith.charts.draw.hyperparameters import hyperparameters
from lawsmith.charts.draw.compare import compare
