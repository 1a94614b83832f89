"""The numbers of the charts, one module per chart; they know nothing of how they are drawn."""
