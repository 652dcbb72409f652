"""cornerturn bench, and the options that ask for a GPU, on machines with and without one."""

from cli_case import CliCase, main


class Bench(CliCase):
    def test_processor_is_measured_beside_a_limit(self):
        report = self.json_of("bench", "--backend", "cpu", "--quick", "--workloads", "W3")
        self.assertEqual(report["backend"], "cpu")
        filled = {row["filled"]: row for row in report["streams"]}
        self.assertEqual(set(filled), {"before", "copy", "simulator"})
        for row in filled.values():
            self.assertGreater(row["bytes_per_s"], 0)
            self.assertGreater(row["limit_bytes_per_s"], 0)
        self.assertGreater(sum(report["stages"][0]["seconds"].values()), 0)
        self.assertLessEqual(report["latency"][0]["p50_s"], report["latency"][0]["p99_s"])

    def test_without_gpu_it_says_why(self):
        cuda = {row["name"]: row for row in self.json_of("devices")["backends"]}["cuda"]
        text = self.succeed("bench", "--quick", "--parts", "strategies", "--workloads", "W3")
        if not cuda["available"]:
            self.assertIn("because there is no GPU", text)
            self.assertIn(cuda["reason"], text)
            self.fail_with(2, "bench", "--backend", "cuda", says="--backend cuda")

    def test_unknown_words(self):
        self.fail_with(2, "bench", "--parts", "links", says=("--parts", "'links'", "strategies"))
        self.fail_with(2, "bench", "--workloads", "W9", says=("--workloads", "W9"))


class Gpu(CliCase):
    def test_memory_and_devices_are_checked_words(self):
        self.fail_with(2, "process", "x.h5", "--memory", "magic", says=("--memory", "'magic'", "zero-copy-wc"))
        self.fail_with(2, "process", "x.h5", "--devices", "0,x", says=("--devices", "'0,x'"))

    def test_they_are_never_ignored(self):
        capture = self.simulate(cpi_count=2)
        self.fail_with(2, "process", capture, "--outputs", "none", "--backend", "cpu", "--memory", "hybrid",
                       says=("--memory hybrid", "CPU backend"))
        cuda = {row["name"]: row for row in self.json_of("devices")["backends"]}["cuda"]
        if cuda["available"]:
            report = self.json_of("process", capture, "--outputs", "none", "--memory", "hybrid", "--devices", "0,0")
            self.assertEqual(report["captures"][0]["memory_strategy"], "hybrid")
            self.assertTrue(report["captures"][0]["device"].startswith("2 x "))
        else:
            self.fail_with(2, "process", capture, "--outputs", "none", "--devices", "0", says="needs the CUDA backend")

    def test_report_says_why_the_processor_was_taken(self):
        capture = self.simulate(cpi_count=2)
        report = self.json_of("process", capture, "--outputs", "none")["captures"][0]
        if report["backend"] == "cpu":
            self.assertIn("cpu, because ", report["backend_note"])


if __name__ == "__main__":
    main()
