"""Setting, changing and removing the passphrase of a store's keys."""

from pathlib import Path

from events.crypto.key_file import remove_leftovers, replace_keys
from events.crypto.keys import KeyRing, KeyUnreadableError
from events.crypto.wrapping import KeyHeader
from events.storage.database import exclusive
from events.storage.log import LogError
from events.wording import reason


def change_passphrase(path: Path, old: str | None, new: str | None) -> None:
    """Replace the key file by one behind another passphrase and master key, and overwrite the old file with zeros.

    The chain key stays. A crash leaves one of the two files at `path`, complete. What else it leaves is removed by the
    next change, or when the log is opened.

    Raises:
        PassphraseError: `old` is wrong, or missing, or there is none; or `new` is empty.
        LogInUseError: the log is open.
        LogError: the keys can't be read or written.
    """
    with exclusive(path.parent):
        try:
            remove_leftovers(path)
            ring = KeyRing.of(path.read_bytes(), old)
            replace_keys(path, ring.rewrapped(KeyHeader.create(new, ring.chain)))
        except (OSError, KeyUnreadableError) as error:
            raise LogError(f"the passphrase can't be changed: {reason(error)}") from error
