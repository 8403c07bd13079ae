"""Serves pets.py with WORKERS workers. Prints its port; ends with its standard input."""
import os
import signal
import sys
import threading

import uvicorn
from uvicorn.supervisors import Multiprocess


def end():
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    workers = int(os.environ["WORKERS"])
    # uvicorn caches the text of its own Date.
    config = uvicorn.Config("pets:app", host="127.0.0.1", port=0, workers=workers, date_header=False, log_level="error")
    listening = config.bind_socket()
    listening.listen(128)
    print(listening.getsockname()[1], flush=True)
    threading.Thread(target=end, daemon=True).start()
    if workers == 1:
        uvicorn.Server(config).run([listening])
    else:
        Multiprocess(config, [listening]).run()
