"""Pictures of every page of the dashboard, from a store that is filled with realistic text.

scripts/screenshots [FOLDER]    # docs/ by default, which gets only the pictures that README shows
"""
