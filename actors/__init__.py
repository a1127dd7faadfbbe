"""Who acts: the actors, the hub that starts them, and the faces they show."""
