import subprocess
import sys


def test_import_is_light() -> None:
    """No compilation and no plotting library at import."""
    code = "import clustruct, sys; print('numba' in sys.modules, 'matplotlib' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["False", "False"]
