from hypothesis import settings

# A busy machine is no failure: nothing here asserts how long an example takes.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
