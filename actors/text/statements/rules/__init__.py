"""Rules that find a correction by the wording of the later text, without a sum of evidence."""
