"""Was a scenario's or a simulation's aim reached?"""
