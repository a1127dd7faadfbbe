"""Judgement of memories: which are duplicates, and which matter too little."""
