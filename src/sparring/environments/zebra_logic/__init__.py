"""ZebraLogic: logic grids with one solution and no clue too many.

In reading order: `grid` (houses, attributes, clues), `solver`, `clue_pool` and `maker` (a minimal puzzle),
`attributes` (what the houses are told apart by), the wordings `chat` and `compact`, `official` (the
reader of the official puzzles), and `environment`.
"""
