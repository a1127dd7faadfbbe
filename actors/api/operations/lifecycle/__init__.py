"""Operations on stored memories: read, delete, restore, move, and replace secrets in them."""
