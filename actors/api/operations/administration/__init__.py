"""Operations on a store as a whole: its log, its files, its access over HTTP."""
