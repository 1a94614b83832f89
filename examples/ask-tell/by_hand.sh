#!/bin/sh
# Four rounds of four runs: ask, launch in your own way, tell. Run it in this folder.
set -eu
for round in 1 2 3 4; do
  lawsmith ask study.toml -n 4 --json > asked.json
  python3 launcher.py asked.json told.json
  lawsmith tell study.toml told.json
done
lawsmith status study.toml
