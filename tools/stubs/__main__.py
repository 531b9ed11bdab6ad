"""Write the generated files."""

from pathlib import Path

from tools.stubs import generated

ROOT = Path(__file__).resolve().parents[2]

for name, text in generated().items():
    (ROOT / name).parent.mkdir(exist_ok=True)
    (ROOT / name).write_text(text, encoding="utf-8", newline="\n")
