"""Operations that find, rank, compare and connect memories."""
