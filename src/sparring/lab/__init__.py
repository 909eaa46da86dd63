"""Suites of runs that are compared: `sparring lab SUITE`.

A suite is a TOML file of arms and seeds. Every run is a `sparring train` of its own in a folder of
its own, so a suite can be broken off at any moment and gone on with, and each run can be looked into.
"""
