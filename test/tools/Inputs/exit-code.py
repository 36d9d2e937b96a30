"""exit-code.py CODE COMMAND...: runs the command and wants exactly that code."""
import subprocess
import sys

wanted, command = int(sys.argv[1]), sys.argv[2:]
code = subprocess.run(command).returncode
if code != wanted:
    sys.exit(f"exit code {code}, expected {wanted}: {' '.join(command)}")
