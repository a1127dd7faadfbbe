"""Twelve sentences about one topic."""

BEES = (
    "I bought two hives and a colony of gentle bees for the garden.",
    "The bees settled into the hive and the queen began to lay.",
    "We fed the colony sugar syrup, since the bees found no nectar in the rain.",
    "A hive that hums at dusk is a colony with a healthy queen.",
    "The bees bring so much pollen that the hive smells of lime trees.",
    "I added a honey super to the hive before the colony could swarm.",
    "The colony swarmed after all, and I caught the bees in a basket.",
    "The swarm has a young queen; her bees fill the second hive.",
    "We took forty pounds of honey from the hives and left the bees the rest.",
    "The honey of this colony is dark, the bees must have found the forest.",
    "I treated the hive against mites once the honey was off the bees.",
    "The colony is strong enough for winter, and the hive weighs enough.",
)
