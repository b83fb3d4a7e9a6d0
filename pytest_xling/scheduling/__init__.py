"""What keeps a run spread over workers right: units and waves, reports that survive, nothing lost.

`waves` needs pytest-xdist and is imported only by the hook that xdist itself calls.
"""
