places().forEach(wait);
let runsState = startRuns(document);
mark();
if (typeof live === "function") live();
