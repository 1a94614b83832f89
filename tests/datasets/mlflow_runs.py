"""A script of the tests: a real MLflow server over a database, and a store of files.

Reads {"folder": …, "runs": [{"name", "state", "settings", "history"}]} from its input, prints the
server's port once all runs are logged, and serves until its input is closed.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from typing import Any

told = json.loads(sys.stdin.readline())
os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"  # MLflow 3 would rather have a database
os.environ["MLFLOW_DISABLE_TELEMETRY"] = os.environ["DO_NOT_TRACK"] = "true"
os.environ["_MLFLOW_SERVER_FILE_STORE"] = f"sqlite:///{told['folder']}/mlflow.db"
os.environ["_MLFLOW_SERVER_ARTIFACT_ROOT"] = f"{told['folder']}/artifacts"

from mlflow.entities import Metric, Param  # noqa: E402
from mlflow.server import app  # noqa: E402
from mlflow.tracking import MlflowClient  # noqa: E402
from werkzeug.serving import make_server  # noqa: E402


def log(address: str, runs: list[dict[str, Any]]) -> None:
    """The runs, as MLflow's own client logs them."""
    client = MlflowClient(tracking_uri=address)
    experiment = client.create_experiment("scaling")
    for run in runs:
        key = client.create_run(experiment, run_name=run["name"]).info.run_id
        metrics = [
            Metric(name, value, 1, int(step))
            for name, series in run["history"].items()
            for step, value in series
        ]
        params = [Param(name, str(value)) for name, value in run["settings"].items()]
        client.log_batch(key, metrics=metrics, params=params)
        client.set_terminated(key, status=run["state"].upper())


logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = make_server("127.0.0.1", 0, app, threaded=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
log(f"http://127.0.0.1:{server.server_port}", told["runs"])
log(f"file://{told['folder']}/mlruns", told["runs"])
print(f"port {server.server_port}", flush=True)
sys.stdin.read()
