"""The live page: the cards of a running study, kept up to date and served to a browser."""
