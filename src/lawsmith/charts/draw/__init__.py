"""The drawing of the charts, one module per chart; numbers come from lawsmith.charts.data."""
