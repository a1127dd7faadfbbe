"""Write the MCP bundle (.mcpb) of this version: the sources, and a manifest by which the client's own uv installs them.

The format is manifest 0.4 of github.com/modelcontextprotocol/mcpb, with the server type `uv`.
"""

import argparse
import json
import tomllib
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FOLDERS = ("actors", "events", "projections")
FILES = ("pyproject.toml", "README.md", "LICENSE")


def manifest() -> dict[str, Any]:
    """Return the manifest, from the project's metadata."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {
        "manifest_version": "0.4",
        "name": project["name"],
        "display_name": "Context Graph",
        "version": project["version"],
        "description": project["description"],
        "author": {"name": "Context Graph contributors"},
        "license": project["license"],
        "keywords": project["keywords"],
        "server": {
            "type": "uv",
            "entry_point": "actors/__main__.py",
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--no-dev", "--directory", "${__dirname}", project["name"], "serve"],
            },
        },
        "tools_generated": True,
        "prompts_generated": True,
        "compatibility": {"platforms": ["darwin", "linux"], "runtimes": {"python": project["requires-python"]}},
    }


def main() -> None:
    """Write the bundle."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "dist", help="where the bundle goes")
    folder = parser.parse_args().folder
    contents = manifest()
    folder.mkdir(parents=True, exist_ok=True)
    bundle = folder / f"{contents['name']}-{contents['version']}.mcpb"
    with zipfile.ZipFile(bundle, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", json.dumps(contents, indent=2))
        for name in FILES:
            archive.write(ROOT / name, name)
        for path in sorted(path for name in FOLDERS for path in (ROOT / name).rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                archive.write(path, path.relative_to(ROOT).as_posix())
    print(bundle)


if __name__ == "__main__":
    main()
