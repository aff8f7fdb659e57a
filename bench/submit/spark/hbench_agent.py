"""What mpirun starts in place of ssh, once for each host: hbench_agent.py SOCKET [-OPTION...] HOST COMMAND...

Passes host and command to hbench_driver.py, which listens at SOCKET, prints what the command prints, and ends with its
exit code; 255, as ssh does, where the host is not there.
"""

import json
import socket
import sys
from typing import List


def run(path: str, words: List[str]) -> int:
    while words and words[0].startswith("-"):
        words = words[1:]
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(path)
        link.sendall((json.dumps({"host": words[0], "command": " ".join(words[1:])}) + "\n").encode())
        for line in link.makefile():
            answer = json.loads(line)
            if "code" in answer:
                return answer["code"]
            print(answer["output"], end="", file=sys.stderr, flush=True)
    return 255


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], sys.argv[2:]))
