"""Ctrl-C, kill -9 and recovery of long runs."""

import os
import signal
import subprocess
import time

import h5py

from cli_case import CORNERTURN, CliCase, main


class LongRun(CliCase):
    """A live simulated source paced by its PRI runs until it is stopped, whatever the speed of the machine."""

    def start(self, *arguments):
        self.simulate()  # writes scene.toml
        return subprocess.Popen([CORNERTURN, "process", "sim://scene.toml?cpis=0", "-o", "out", *arguments],
                                cwd=self.folder, env=self.environment(), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def wait_for(self, condition, seconds=30):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, "waited in vain")
            time.sleep(0.02)

    def parts(self):
        """Segments of the results that are closed: files with a final name in a folder beside the result file."""
        found = []
        for folder, _, files in os.walk(self.path("out")):
            if folder != self.path("out"):
                found += [name for name in files if name.endswith(".h5")]
        return found

    def stop(self, run, number):
        run.send_signal(number)
        out, err = run.communicate(timeout=60)
        return run.returncode, out, err

    def check_result(self, path):
        with h5py.File(path, "r") as file:
            found = {name: file[name][...] for name in ("cpi", "range_doppler_power")}
        index = found["cpi"]
        self.assertGreater(len(index), 0)
        self.assertTrue((index[1:] > index[:-1]).all())
        self.assertEqual(len(found["range_doppler_power"]), len(index))
        # Every CPI is whole: a map of noise and a target has no cell that is exactly zero everywhere.
        self.assertTrue((found["range_doppler_power"].max(axis=(1, 2)) > 0).all())
        return len(index)

    def test_first_ctrl_c_ends_cleanly_with_130(self):
        run = self.start()
        self.wait_for(lambda: os.path.isdir(self.path("out")) and os.listdir(self.path("out")))
        time.sleep(0.5)
        code, out, err = self.stop(run, signal.SIGINT)
        self.assertEqual(code, 130, err + out)
        self.assertIn("interrupted", err)
        self.assertEqual([line for line in err.splitlines() if "error" in line and "interrupted" not in line], [])
        self.check_result(self.path("out/scene.result.h5"))
        self.assertEqual(self.parts(), [])
        with open(self.path("out/scene.result.csv")) as table:
            lines = table.readlines()
        self.assertTrue(all(line.endswith("\n") and line.count(",") == lines[0].count(",") for line in lines))

    def test_terminate_ends_cleanly_too(self):
        run = self.start()
        self.wait_for(lambda: os.path.isdir(self.path("out")) and os.listdir(self.path("out")))
        time.sleep(0.3)
        code, _, err = self.stop(run, signal.SIGTERM)
        self.assertEqual(code, 130, err)

    def test_recover_after_kill_gives_back_the_closed_segments(self):
        run = self.start("--outputs", "h5")
        self.wait_for(lambda: len(self.parts()) >= 2)  # a segment is closed about every second
        run.kill()
        run.communicate(timeout=60)
        self.assertNotEqual(self.parts(), [])
        report = self.json_of("recover", "out/scene.result.h5")[0]
        self.assertGreaterEqual(report["segment_count"], 2)
        self.assertEqual(self.check_result(self.path("out/scene.result.h5")), report["cpi_count"])
        self.fail_with(3, "recover", "out/scene.result.h5", says="out/scene.result.h5")

    def test_interrupted_conversion_leaves_no_file(self):
        self.simulate()
        run = subprocess.Popen([CORNERTURN, "convert", "sim://scene.toml?cpis=0", "copy.h5"], cwd=self.folder,
                               env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(0.7)
        code, _, err = self.stop(run, signal.SIGINT)
        self.assertEqual(code, 130, err)
        self.assertFalse(any(name.startswith("copy.h5") for name in os.listdir(self.folder)))


if __name__ == "__main__":
    main()
