"""IFEval: writing requests whose constraints a program checks.

In reading order: `constraints` (the 25 families and how they are judged), their checkers in the two
profiles `official` and `fixed`, `drawing` (which constraints go together), `writer` (a text that
follows them), `breaking` (texts that do not), and `environment`.
"""
