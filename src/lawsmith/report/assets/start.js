watchCharts(document);
let runsState = startRuns(document);
if (typeof live === "function") live();
