"""Write the stubs, and remove those of modules that no longer have one."""

from pathlib import Path

import autograd_cy
from tools.stubs import generated
from tools.stubs.modules import MARKED

package = Path(autograd_cy.__file__).parent
texts = {package.parent / name: text for name, text in generated().items()}
for path in package.rglob("*.pyi"):
    if path not in texts and path.read_text(encoding="utf-8").startswith(MARKED):
        path.unlink()
for path, text in texts.items():
    path.write_text(text, encoding="utf-8", newline="\n")
