"""Whether a hub runs the code of this program; it goes on with that of its start when another version is installed."""

from contextlib import suppress
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from actors.proxy.endpoint import read_hub_info

PACKAGES = ("actors", "events", "projections")


def own_version() -> str:
    """Return the version of this package with a digest of its code, which also changes between two versions.

    Raises:
        PackageNotFoundError, OSError: It is being replaced.
    """
    root, digest = Path(__file__).parents[2], blake2b(digest_size=4)
    for path in sorted(path for package in PACKAGES for path in (root / package).rglob("*.py")):
        digest.update(path.read_bytes())
    return f"{version('context-graph')}+{digest.hexdigest()}"


def describe_other_version(folder: Path) -> str | None:
    """Return which other version the hub of a folder is of, and what to run; None if it is of this one, or unknown."""
    info = read_hub_info(folder)
    with suppress(PackageNotFoundError, OSError):
        if info is not None and info.version != (own := own_version()):
            return (
                f"the hub, process {info.pid}, is of version {info.version}, not {own}; the next one is of this "
                f"version once all clients of the hub have ended, or at once by: context-graph stop --data {folder}"
            )
    return None
