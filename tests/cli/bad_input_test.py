"""Bad captures, bad chains and bad places: one line with cause and remedy, the right exit code, nothing lost."""

import os
import resource
import subprocess

import h5py
import numpy

from cli_case import CORNERTURN, CliCase, main


class BadCapture(CliCase):
    def test_missing(self):
        self.fail_with(3, "process", "none.h5", says="none.h5")

    def test_directory(self):
        self.fail_with(3, "process", self.folder, says=self.folder)

    def test_empty(self):
        self.write("empty.h5", b"")
        self.fail_with(3, "process", "empty.h5", says=("empty.h5", "empty", "0 bytes"))

    def test_truncated_tells_expected_and_real_size(self):
        whole = self.simulate(cpi_count=16)
        size = os.path.getsize(whole)
        with open(whole, "rb") as file:
            self.write("cut.h5", file.read(size // 2))
        message = self.fail_with(3, "process", "cut.h5", says="cut.h5")
        self.assertIn(str(size // 2), message)
        self.assertIn(str(size), message)

    def test_only_a_header(self):
        with open(self.simulate(), "rb") as file:
            self.write("head.h5", file.read(96))
        self.fail_with(3, "process", "head.h5", says=("head.h5", "96"))

    def test_text_renamed(self):
        self.write("text.h5", "this is no capture\n" * 40)
        self.fail_with(3, "process", "text.h5", says="text.h5")

    def test_unknown_binary(self):
        self.write("noise.bin", os.urandom(4096))
        self.fail_with(3, "process", "noise.bin", says=("noise.bin", "noise.bin.cornerturn.toml"))

    def test_messages_of_bl04_differ(self):
        whole = self.simulate(cpi_count=16)
        with open(whole, "rb") as file:
            content = file.read()
        self.write("a.h5", content[: len(content) // 2])
        self.write("b.h5", content[:96])
        self.write("c.h5", b"")
        self.write("d.h5", "text\n" * 100)
        messages = [self.fail_with(3, "info", name, says=name).replace(name, "") for name in ("a.h5", "b.h5", "c.h5", "d.h5")]
        self.assertEqual(len(set(messages)), 4, messages)

    def test_one_bad_capture_among_several(self):
        self.simulate("a.h5")
        self.simulate("c.h5")
        self.write("b.h5", b"")
        message = self.fail_with(1, "process", "a.h5", "b.h5", "c.h5", "-o", "out", "--quiet", lines=2,
                                 says="1 of 3 captures failed: b.h5")
        self.assertIn("b.h5", message)
        self.assertTrue(os.path.exists(self.path("out/a.result.h5")))
        self.assertTrue(os.path.exists(self.path("out/c.result.h5")))


class BadSidecar(CliCase):
    def capture(self, sidecar, shape=(2, 8, 2, 32), dtype="int16"):
        numpy.save(self.path("raw.npy"), numpy.zeros(shape, dtype))
        self.write("raw.npy.cornerturn.toml", sidecar)

    def test_unknown_key_suggests_the_nearest(self):
        self.capture("formatt = 'array'\n")
        self.fail_with(2, "process", "raw.npy", says="raw.npy.cornerturn.toml:1:")

    def test_unknown_format(self):
        self.capture("format = 'tape'\n")
        self.fail_with(2, "process", "raw.npy", says=("raw.npy.cornerturn.toml:1:format", "tape", "array"))


class BadChain(CliCase):
    def refuse(self, text, *says, code=2):
        self.simulate()
        self.write("chain.toml", text)
        return self.fail_with(code, "process", "capture.h5", "-o", "out", "-c", "chain.toml", says=says)

    def test_missing_file(self):
        self.simulate()
        self.fail_with(3, "process", "capture.h5", "-c", "none.toml", says="none.toml")

    def test_no_toml(self):
        self.refuse("[cfar\n", "chain.toml:1:")

    def test_unknown_key(self):
        self.refuse("[cfar]\npfs = 1e-4\n", "chain.toml:2:", "pfs", "did you mean 'pfa'?")

    def test_unknown_section(self):
        self.refuse("[cfra]\npfa = 1e-4\n", "chain.toml:1:", "did you mean 'cfar'?")

    def test_pfa_out_of_range(self):
        self.refuse("[cfar]\npfa = 1.5\n", "chain.toml:2:cfar.pfa", "1.5")
        self.refuse("[cfar]\npfa = 0.0\n", "chain.toml:2:cfar.pfa")

    def test_wrong_type(self):
        self.refuse("[doppler]\nfft_length = 'long'\n", "chain.toml:2:doppler.fft_length")

    def test_contradiction_names_the_line_that_set_the_key(self):
        self.refuse("\n[doppler]\nfft_length = 8\n", "chain.toml:3:doppler.fft_length", "32")

    def test_contradiction_in_an_override_names_the_override(self):
        self.simulate()
        self.fail_with(2, "process", "capture.h5", "-o", "out", "--set", "doppler.fft_length=8",
                       says="--set doppler.fft_length=8")
        self.fail_with(2, "process", "capture.h5", "-o", "out", "--set", "cfar.pfs=1", says="did you mean 'cfar.pfa'?")

    def test_nothing_was_written(self):
        self.refuse("[cfar]\npfa = 1.5\n", "chain.toml:2:cfar.pfa")
        self.assertFalse(os.path.exists(self.path("out")))


class BadScene(CliCase):
    def test_wrong_key(self):
        self.write("scene.toml", "name = 'x'\n[shape]\npulse_count = 0\nsample_count = 4\n")
        self.fail_with(2, "simulate", "scene.toml", "-o", "x.h5", says="scene.toml:3:shape.pulse_count")

    def test_missing(self):
        self.fail_with(3, "simulate", "none.toml", "-o", "x.h5", says="none.toml")


class BadPlace(CliCase):
    def test_a_file_where_the_directory_should_be(self):
        self.simulate()
        self.write("file", "x")
        self.fail_with(1, "process", "capture.h5", "-o", "file", says=("file", "-o"))
        self.fail_with(1, "process", "capture.h5", "-o", "file/below", says=("file/below", "-o"))

    def test_a_place_that_cannot_be_written(self):
        self.simulate()
        self.fail_with(1, "process", "capture.h5", "-o", "/proc/cornerturn", says=("/proc/cornerturn", "-o"))
        self.fail_with(1, "process", "capture.h5", "-o", "/proc", says=("/proc", "-o"))
        self.fail_with(1, "simulate", "-o", "/proc/capture.h5", says="/proc")
        self.fail_with(1, "convert", "capture.h5", "/proc/capture.h5", says="/proc")

    def test_results_are_not_written_over(self):
        self.simulate()
        self.succeed("process", "capture.h5", "-o", "out")
        before = os.path.getmtime(self.path("out/capture.result.h5"))
        self.fail_with(2, "process", "capture.h5", "-o", "out", says=("exists already", "--force"))
        self.assertEqual(os.path.getmtime(self.path("out/capture.result.h5")), before)
        self.succeed("process", "capture.h5", "-o", "out", "--force")
        self.fail_with(2, "simulate", "-o", "capture.h5", says=("exists already", "--force"))

    def test_two_captures_of_one_name(self):
        os.mkdir(self.path("a"))
        os.mkdir(self.path("b"))
        self.simulate("a/walk.h5")
        self.simulate("b/walk.h5")
        self.fail_with(2, "process", "a/walk.h5", "b/walk.h5", "-o", "out", says=("a/walk.h5", "b/walk.h5"))

    def test_disk_full(self):
        """A limit on the size of files stands for a full disk: writing fails in the middle of the run."""
        self.simulate(cpi_count=200)

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

        self.fail_with(1, "process", "capture.h5", "-o", "out", "--quiet", "--outputs", "h5", says="out",
                       preexec_fn=limit)
        self.fail_with(1, "convert", "capture.h5", "copy.h5", "--quiet", says="copy.h5", preexec_fn=limit)
        self.assertFalse(os.path.exists(self.path("copy.h5")))

    def test_standard_output_full(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full here")
        with open("/dev/full", "w") as full:
            done = subprocess.run([CORNERTURN, "formats"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("standard output", done.stderr)


class BadSamples(CliCase):
    """NaN, Inf and dead channels are counted and masked; what is good is found as in a clean capture."""

    SIDECAR = """
[samples]
axes = ["frame", "pulse", "channel", "sample"]

[waveform]
kind = "fmcw"
carrier_hz = 77e9
sample_rate_hz = 10e6
pri_s = 60e-6
slope_hz_per_s = 30e12

[array]
spacing_wavelengths = 0.5
"""

    def capture(self, spoil=lambda samples: None, name="raw.npy"):
        """3 CPIs x 32 pulses x 4 channels x 64 samples of a target on gate 20, Doppler bin +5, at 15 degrees."""
        random = numpy.random.default_rng(5)
        frame, pulse, channel, sample = numpy.ogrid[:3, :32, :4, :64]
        phase = 20 * sample / 64 + 5 * pulse / 32 + 0.5 * channel * numpy.sin(numpy.radians(15)) + 0 * frame
        samples = 100 * numpy.exp(2j * numpy.pi * phase)
        samples = samples + 10 * (random.standard_normal(samples.shape) + 1j * random.standard_normal(samples.shape))
        samples = samples.astype("complex64")
        spoil(samples)
        numpy.save(self.path(name), samples)
        self.write(name + ".cornerturn.toml", self.SIDECAR)
        return self.json_of("process", name, "-o", "out", "--force")["captures"][0]

    def check_results_are_finite(self, stem="raw"):
        with open(self.path(f"out/{stem}.result.csv")) as table:
            text = table.read().lower()
        self.assertNotIn("nan", text)
        self.assertNotIn("inf", text)
        with h5py.File(self.path(f"out/{stem}.result.h5"), "r") as file:
            maps = []
            file.visititems(lambda name, node: maps.append(node[...]) if name.endswith("range_doppler_power") else None)
        self.assertEqual(len(maps), 1)
        self.assertTrue(numpy.isfinite(maps[0]).all())
        return maps[0]

    def test_nan_and_inf_are_counted_and_masked(self):
        clean = self.capture()
        clean_map = self.check_results_are_finite()

        def spoil(samples):
            samples[1, 7, 2, 11] = complex(float("nan"), 0)
            samples[1, 8, 3, 12] = complex(0, float("inf"))

        spoiled = self.capture(spoil)
        self.assertEqual((clean["masked_samples"], spoiled["masked_samples"]), (0, 2))
        spoiled_map = self.check_results_are_finite()
        numpy.testing.assert_array_equal(spoiled_map[[0, 2]], clean_map[[0, 2]])  # other CPIs know nothing of it
        first = spoiled["strongest"]["detections"][0]
        self.assertAlmostEqual(first["gate_position"], 20, delta=0.1)
        self.assertAlmostEqual(first["azimuth_deg"], 15, delta=0.5)
        self.assertIn("2 masked", self.succeed("process", "raw.npy", "-o", "out", "--force"))

    def test_a_whole_cpi_of_nan(self):
        def spoil(samples):
            samples[1] = complex(float("nan"), float("nan"))

        report = self.capture(spoil)
        self.assertEqual(report["masked_samples"], 32 * 4 * 64)
        self.check_results_are_finite()
        self.assertEqual(report["statistics"]["cpis_processed"], 3)

    def test_dead_channel(self):
        def spoil(samples):
            samples[:, :, 2, :] = 0

        report = self.capture(spoil)
        self.assertEqual(report["zero_channels"], 1)
        self.check_results_are_finite()
        self.assertIn("1 without any signal", self.succeed("process", "raw.npy", "-o", "out", "--force"))

    def test_missing_parameter_and_parameter_out_of_range(self):
        self.capture()
        self.write("raw.npy.cornerturn.toml", self.SIDECAR.replace("carrier_hz = 77e9\n", ""))
        self.fail_with(2, "process", "raw.npy", "-o", "new", says=("waveform.carrier_hz", "missing"))
        self.write("raw.npy.cornerturn.toml", self.SIDECAR.replace("60e-6", "-60e-6"))
        self.fail_with(2, "process", "raw.npy", "-o", "new", says=("raw.npy.cornerturn.toml:9:waveform.pri_s", "-6e-05"))

    def test_wrong_rank_and_type(self):
        self.capture()
        numpy.save(self.path("raw.npy"), numpy.zeros((4, 64), "complex64"))
        self.fail_with(3, "process", "raw.npy", "-o", "new", says="raw.npy")
        numpy.save(self.path("raw.npy"), numpy.zeros((1, 2, 3, 4), "U3"))
        self.fail_with(3, "process", "raw.npy", "-o", "new", says="raw.npy")


if __name__ == "__main__":
    main()
