"""The live page: a study's cards kept up to date while it runs, served to a browser nearby."""
