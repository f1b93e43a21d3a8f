"""Every table and figure of the two papers, and our own studies, on the public names of `aninfonce`.

Adds `list`, `run` and `report` to the command `aninfonce`, and `render`, `convert` and `sheet` to
`aninfonce data`.
"""
