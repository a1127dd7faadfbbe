"""Commands on memories: store, find, look into, review, tidy up."""
