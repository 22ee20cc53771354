"""One app server of several: Streamlit with this classroom, for as long as whoever started it is there.

python -m servers.app_server --server.port 9001 …
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

from minibert.folders import ROOT

SECONDS_TO_STOP = 5


def end_with_starter() -> None:
    """End this process when its starter ends: standard input closes then."""
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(SECONDS_TO_STOP)
    os._exit(0)


def main() -> None:
    threading.Thread(target=end_with_starter, daemon=True).start()
    sys.argv = ["streamlit", "run", str(ROOT / "app.py"), *sys.argv[1:]]
    from streamlit.web import cli

    cli.main()


if __name__ == "__main__":
    main()
