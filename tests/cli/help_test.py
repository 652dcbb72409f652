"""Help, version, and what the command line refuses."""

from cli_case import CliCase, main

COMMANDS = ("info", "process", "simulate", "convert", "formats", "devices", "bench", "recover")


class Help(CliCase):
    def test_help_lists_every_command(self):
        text = self.succeed("--help")
        for command in COMMANDS:
            self.assertIn(command, text)

    def test_every_command_has_help_with_an_example(self):
        for command in COMMANDS:
            text = self.succeed(command, "--help")
            self.assertIn("Example", text, command)
            self.assertIn("cornerturn " + command, text)

    def test_version_names_what_the_build_has(self):
        text = self.succeed("--version")
        self.assertRegex(text, r"^cornerturn \d+\.\d+\.\d+\n")
        for part in ("build", "backends", "HDF5", "pictures", "capture hash"):
            self.assertIn(part, text)


class Usage(CliCase):
    def test_no_command(self):
        self.fail_with(2, says=("no command given", "--help"))

    def test_unknown_command_suggests_the_nearest(self):
        self.fail_with(2, "proces", "x.h5", says=("unknown command 'proces'", "did you mean 'process'?"))

    def test_unknown_option(self):
        self.fail_with(2, "process", "--frobnicate", says=("--frobnicate", "cornerturn process --help"))

    def test_wrong_values(self):
        self.fail_with(2, "process", "x.h5", "--threads", "-1", says="--threads")
        self.fail_with(2, "process", "x.h5", "--cpi", "9:3", says=("--cpi 9:3", "holds no CPI"))
        self.fail_with(2, "info", "x.h5", "--iq-order", "qqq", says=("--iq-order", "qqq"))

    def test_no_capture(self):
        self.fail_with(2, "process", says="no capture given")


class Tables(CliCase):
    def test_formats(self):
        text = self.succeed("formats")
        for name in ("capture_v1", "ti_2lane", "acconeer_a121", "array", "sim://"):
            self.assertIn(name, text)
        self.assertIn("capture_v1", [row["name"] for row in self.json_of("formats")])

    def test_devices_say_why_cuda_is_missing(self):
        rows = {row["name"]: row for row in self.json_of("devices")["backends"]}
        self.assertTrue(rows["cpu"]["available"])
        if not rows["cuda"]["available"]:
            self.assertNotEqual(rows["cuda"]["reason"], "")
        self.assertIn("processor", self.succeed("devices"))


if __name__ == "__main__":
    main()
