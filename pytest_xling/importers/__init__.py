"""Importers: a module or a package for each layout of questions and answers."""
