"""From a scene to results and score, and the ways to ask for them."""

import json
import os
import pty
import subprocess

from cli_case import CORNERTURN, CliCase, main


class Demo(CliCase):
    def test_default_scene_is_found_within_half_a_bin(self):
        truth = self.succeed("simulate", "-o", "capture.h5")
        self.assertIn("truth", truth)
        report = self.json_of("process", "capture.h5", "-o", "out", "--score")
        capture = report["captures"][0]
        self.assertEqual(capture["statistics"]["cpis_processed"], 16)
        self.assertEqual(report["failed"], [])
        targets = capture["score"]["targets"]
        self.assertGreaterEqual(len(targets), 4)
        for target in targets:
            self.assertLess(abs(target["range_cells"]["bias"]), 0.5, target)
            self.assertLess(abs(target["doppler_cells"]["bias"]), 0.5, target)
        for ending in (".h5", ".csv", ".png"):
            self.assertGreater(os.path.getsize(self.path("out/capture.result" + ending)), 0)
        with open(self.path("out/capture.result.png"), "rb") as picture:
            self.assertEqual(picture.read(8), b"\x89PNG\r\n\x1a\n")

    def test_text_report_says_what_was_understood_done_found_and_written(self):
        self.simulate()
        text = self.succeed("process", "capture.h5", "-o", "out", "--score")
        for part in ("capture v1", "4 channels x 32 pulses x 64 samples", "CA-CFAR", "CPI/s", "detections",
                     "azimuth deg", "out/capture.result.h5", "out/capture.result.csv"):
            self.assertIn(part, text)


class Headless(CliCase):
    """BL-13: help, version and a batch work where there is no display and hardly an environment."""

    def test_bl13_batch_needs_no_display(self):
        self.simulate("a.h5")
        self.simulate("b.h5")
        sanitizers = {name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}
        bare = {"PATH": "/usr/bin:/bin", **sanitizers}
        for arguments in (("--help",), ("--version",), ("process", "a.h5", "b.h5", "-o", "out")):
            code, out, err = self.run_cli(*arguments, env=bare)
            self.assertEqual(code, 0, err)
            self.assertNotIn("display", (out + err).lower())
        for stem in ("a", "b"):
            for ending in (".h5", ".csv", ".png"):
                self.assertGreater(os.path.getsize(self.path(f"out/{stem}.result{ending}")), 0)

    def test_bl13_program_links_no_window_library(self):
        linked = subprocess.run(["ldd", CORNERTURN], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertNotIn("Qt", linked)


class Chain(CliCase):
    def test_printed_chain_reads_back(self):
        self.simulate()
        printed = self.succeed("process", "capture.h5", "--print-chain", "--set", "cfar.pfa=1e-4")
        self.assertIn("pfa = 0.0001", printed)
        self.write("chain.toml", printed)
        self.assertEqual(self.succeed("process", "capture.h5", "--print-chain", "-c", "chain.toml"), printed)

    def test_set_wins_over_the_file_and_the_file_over_the_default(self):
        self.simulate()
        self.write("chain.toml", "canceller = 'mean'\n[cfar]\npfa = 1e-3\n")
        printed = self.succeed("process", "capture.h5", "--print-chain", "-c", "chain.toml", "--set", "cfar.pfa=1e-5")
        self.assertIn("pfa = 1e-05", printed)
        self.assertIn('canceller = "mean"', printed)

    def test_documentation_page_can_be_printed(self):
        self.assertIn("`cfar.pfa`", self.succeed("process", "--print-chain-docs"))


class Selection(CliCase):
    def test_cpi_range(self):
        self.simulate(cpi_count=8)
        report = self.json_of("process", "capture.h5", "-o", "out", "--cpi", "2:5")
        self.assertEqual(report["captures"][0]["statistics"]["cpis_processed"], 3)
        with open(self.path("out/capture.result.csv")) as table:
            rows = [line.split(",") for line in table]
        self.assertEqual({row[0] for row in rows[1:]}, {"2", "3", "4"})

    def test_cpi_range_outside_the_capture(self):
        self.simulate(cpi_count=4)
        self.fail_with(2, "process", "capture.h5", "-o", "out", "--cpi", "4:", says=("has no CPI 4", "0 to 3"))

    def test_outputs(self):
        self.simulate()
        self.succeed("process", "capture.h5", "-o", "out", "--outputs", "csv")
        self.assertEqual(os.listdir(self.path("out")), ["capture.result.csv"])
        self.fail_with(2, "process", "capture.h5", "-o", "out", "--outputs", "tiff", says="tiff")
        self.succeed("process", "capture.h5", "-o", "none", "--outputs", "none")
        self.assertFalse(os.path.exists(self.path("none")))

    def test_result_file_of_a_given_name(self):
        self.simulate()
        self.succeed("process", "capture.h5", "-o", "walk.h5", "--outputs", "h5,csv")
        self.assertTrue(os.path.exists(self.path("walk.h5")))
        self.assertTrue(os.path.exists(self.path("walk.csv")))

    def test_products(self):
        self.simulate()
        self.succeed("process", "capture.h5", "-o", "out", "--product", "range_profiles,doppler_cube")
        self.fail_with(2, "process", "capture.h5", "-o", "out", "--product", "maps", says=("--product maps", "covariance"))

    def test_backend(self):
        self.simulate()
        self.succeed("process", "capture.h5", "-o", "out", "--backend", "cpu", "--threads", "1")
        self.fail_with(2, "process", "capture.h5", "-o", "other", "--backend", "abacus", says="abacus")

    def test_simulator_as_a_source(self):
        scene = self.write("scene.toml", "")
        self.simulate()  # writes the scene
        report = self.json_of("process", f"sim://{scene}?fast", "-o", "out")
        self.assertEqual(report["captures"][0]["statistics"]["cpis_processed"], 4)


class DryRun(CliCase):
    def test_writes_nothing_and_tells_memory_and_time(self):
        self.simulate()
        before = sorted(os.listdir(self.folder))
        estimate = self.json_of("process", "capture.h5", "-o", "out", "--dry-run")["captures"][0]
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        self.assertEqual(estimate["cpi_count"], 4)
        self.assertGreater(estimate["memory_bytes"], 4 * 32 * 64 * 4)  # one raw CPI at least
        self.assertGreater(estimate["cpi_s"], 0)
        self.assertIn("nothing is written", self.succeed("process", "capture.h5", "--dry-run"))


class Info(CliCase):
    def test_tells_axes_and_limits(self):
        self.simulate()
        text = self.succeed("info", "capture.h5")
        for part in ("range", "m/s", "resolution", "4 channels"):
            self.assertIn(part, text)
        capture = self.json_of("info", "capture.h5")["captures"][0]
        # lambda / (4 PRI) at 77 GHz and 60 us.
        self.assertAlmostEqual(capture["range_rate"]["limit"], 299792458 / 77e9 / 4 / 60e-6, places=3)
        # c fs / (2 S N)
        self.assertAlmostEqual(capture["range"]["step"], 299792458 * 10e6 / (2 * 30e12 * 64), places=4)
        self.assertEqual(len(capture["truth"]), 1)


class Convert(CliCase):
    def test_converted_capture_gives_the_same_detections(self):
        self.simulate()
        self.succeed("convert", "capture.h5", "copy.h5")
        self.succeed("process", "capture.h5", "copy.h5", "-o", "out", "--outputs", "csv")
        with open(self.path("out/capture.result.csv")) as one, open(self.path("out/copy.result.csv")) as two:
            self.assertEqual(one.read(), two.read())


class Progress(CliCase):
    def run_long(self, stderr):
        self.simulate()  # writes scene.toml; 400 CPIs paced by the radar take 0.8 s
        return subprocess.run([CORNERTURN, "process", "sim://scene.toml?cpis=400", "-o", "out", "--outputs", "csv", "--json"],
                              cwd=self.folder, env={**self.environment(), "TERM": "xterm"}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=stderr, timeout=120, check=True)

    def read_all(self, controller):
        shown = b""
        with os.fdopen(controller, "rb", buffering=0) as terminal:
            try:
                while part := terminal.read(65536):
                    shown += part
            except OSError:  # how Linux tells that the other side is closed and all has been read
                pass
        return shown

    def test_bar_on_a_terminal(self):
        controller, terminal = pty.openpty()
        try:
            done = self.run_long(terminal)
        finally:
            os.close(terminal)
        shown = self.read_all(controller).decode()
        self.assertRegex(shown, r"\rscene\.toml.* \d+/400 CPIs .*CPI/s")
        self.assertTrue(shown.endswith("\r\x1b[K"), shown[-40:])  # taken off the screen at the end
        json.loads(done.stdout)

    def test_no_bar_in_a_log(self):
        done = self.run_long(subprocess.PIPE)
        self.assertNotIn(b"\r", done.stderr)
        self.assertNotIn(b"\x1b", done.stderr)


class Quiet(CliCase):
    def test_quiet_says_nothing(self):
        self.simulate()
        code, out, err = self.run_cli("process", "capture.h5", "-o", "out", "--quiet")
        self.assertEqual((code, out, err), (0, "", ""))

    def test_json_is_one_document_even_when_captures_fail(self):
        self.simulate()
        code, out, err = self.run_cli("process", "missing.h5", "capture.h5", "-o", "out", "--json")
        self.assertEqual(code, 1)
        document = json.loads(out)
        self.assertEqual(document["failed"], [{"path": "missing.h5", "exit_code": 3}])
        self.assertEqual(len(document["captures"]), 1)
        self.assertIn("missing.h5", err)


if __name__ == "__main__":
    main()
