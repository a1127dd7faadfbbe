"""Operations on goals, the global workspace and sleep."""
