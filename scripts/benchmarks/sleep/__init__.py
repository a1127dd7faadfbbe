"""What sleep does to ten thousand memories with duplicates and trivia planted among them."""
