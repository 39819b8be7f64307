"""Build the site: `python -m docs._site [FOLDER]`, by default in build/site."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from docs._site import ROOT
from docs._site.assemble import assemble


def main(folder: Path) -> int:
    """Assemble the pages and build HTML with Sphinx. Returns the exit code."""
    from sphinx.cmd.build import main as sphinx

    assemble(folder / "pages")
    # Cells run in local processes: the kernel's warning about other listeners is irrelevant.
    profile = folder / "ipython" / "profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    settings = profile / "ipython_kernel_config.py"
    settings.write_text("get_config().IPKernelApp.log_level = 'ERROR'\n", encoding="utf-8")
    os.environ["IPYTHONDIR"] = str(folder / "ipython")
    options = ["--fail-on-warning", "--keep-going", "--nitpicky", "--quiet", "-j", "2"]
    places = ["-c", ROOT / "docs", "-d", folder / "doctrees", folder / "pages", folder / "html"]
    code = sphinx([*options, *map(str, places)])
    if not code:
        print(f"the site is at {folder / 'html' / 'index.html'}")
    return code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "site")))
