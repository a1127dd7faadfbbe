"""The start of a keyed chain: at the first event of a new log, or where a log of an earlier version goes on."""

from datetime import UTC, datetime
from uuid import uuid4

from events.crypto.chain_key import ChainKey
from events.crypto.keys import KeyRing
from events.storage.durable import HeadFile
from events.storage.log import Draft, Head
from events.vocabulary import ChainKeyed


def key_chain(head: Head, keys: KeyRing, head_file: HeadFile | None = None) -> list[Draft]:
    """Give a log its chain key, if it has none.

    Args:
        head: The end of the log.
        keys: Of the log; receive the chain key.
        head_file: Receives the tags of the chain key.

    Returns:
        The event that the log must append now if it has events with plain hashes, also after a crash in between.

    Raises:
        OSError: a file can't be written.
    """
    if keys.chain is None:
        chain = ChainKey.create(head.seq + 1)
        if head_file is not None:
            # Heads stay readable without their tags, so a crash between the two files leaves the store as it was.
            head_file.authenticate(chain)
        keys.key_chain(chain)
    if keys.chain is None or not 0 < head.seq == keys.chain.first - 1:
        return []
    event = ChainKeyed(plain=head.seq)
    return [Draft(id=uuid4(), at=datetime.now(UTC), actor="log", correlation_id=uuid4(), event=event)]
