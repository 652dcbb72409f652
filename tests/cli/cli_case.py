"""What the tests of the command line share: running the program, a scratch folder, a simulated capture."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

CORNERTURN = os.environ.get("CORNERTURN_BINARY", "cornerturn")

# 4 channels x 32 pulses x 64 samples: a CPI takes well under a millisecond.
SCENE = """
name = "small"
seed = 7
cpi_count = {cpi_count}

[shape]
channel_count = 4
pulse_count = 32
sample_count = 64

[waveform]
kind = "fmcw"
carrier_hz = 77e9
sample_rate_hz = 10e6
pri_s = 60e-6
slope_hz_per_s = 30e12

[array]
spacing_wavelengths = 0.5

[receiver]
noise_counts = 10.0

[[target]]
range_m = 20.0
range_rate_mps = 3.0
azimuth_deg = 15.0
snr_db = 10.0
"""


class CliCase(unittest.TestCase):
    """A scratch folder per test; `run_cli` runs the program in it, without a display."""

    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="cornerturn-cli-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        mode = "wb" if isinstance(content, bytes) else "w"
        with open(self.path(name), mode) as file:
            file.write(content)
        return self.path(name)

    def environment(self):
        return {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}

    def run_cli(self, *arguments, **options):
        """Runs the program; gives exit code, standard output and standard error."""
        options.setdefault("env", self.environment())
        options.setdefault("timeout", 120)
        done = subprocess.run([CORNERTURN, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        return done.returncode, done.stdout, done.stderr

    def succeed(self, *arguments, **options):
        code, out, err = self.run_cli(*arguments, **options)
        self.assertEqual(code, 0, f"{arguments}: {err}{out}")
        return out

    def fail_with(self, code, *arguments, says=(), lines=1, **options):
        """The program ends with `code` and `lines` lines of message that hold the words of `says`; no trace, no crash."""
        found, out, err = self.run_cli(*arguments, **options)
        self.assertEqual(found, code, f"{arguments}: {err}{out}")
        messages = err.splitlines()
        self.assertEqual(len(messages), lines, err)
        for message in messages:
            self.assertRegex(message, r"^cornerturn: (error|warning): ")
        for word in (says,) if isinstance(says, str) else says:
            self.assertIn(word, err)
        self.assertNotIn("HDF5-DIAG", err + out)
        return err

    def simulate(self, name="capture.h5", cpi_count=4):
        scene = self.write("scene.toml", SCENE.format(cpi_count=cpi_count))
        self.succeed("simulate", scene, "-o", name, "--force", "--quiet")
        return self.path(name)

    def json_of(self, *arguments):
        return json.loads(self.succeed(*arguments, "--json"))


def main():
    program = unittest.main(exit=False, verbosity=1)
    sys.exit(0 if program.result.wasSuccessful() else 1)
