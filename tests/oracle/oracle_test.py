"""Runs one case through the product (chain_dump) and through oracle.py: oracle_test.py CHAIN_DUMP CASE.

Each stage is judged on identical input: the oracle takes what the product's previous stage put out. Errors are relative
in L2; after a canceller relative to what the same stage makes of the canceller's input, because strong clutter that was
cancelled leaves single-precision rounding of the clutter behind.
"""
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import scipy  # noqa: F401
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

import oracle

LIMIT = 2e-6  # relative L2 of each stage


def echoes(case, rng, amplitude=200.0, clutter=0.0):
    """Noise of 10 counts, a few tones that move, and tones that stand still: (pulse, channel, sample)."""
    p, c, n = np.ogrid[: case["pulses"], : case["channels"], : case["samples"]]
    x = rng.normal(0, 10, (case["pulses"], case["channels"], case["samples"], 2)) @ [1, 1j]
    for k, (beat, doppler, angle) in enumerate([(0.11, 0.20, 0.1), (0.23, -0.31, -0.2), (0.37, 0.05, 0.35)]):
        x = x + amplitude / (k + 1) * np.exp(2j * np.pi * (beat * n + doppler * p + angle * c))
    for beat in rng.uniform(0.02, 0.45, 30):
        x = x + clutter * np.exp(2j * np.pi * (beat * n + rng.uniform() + rng.uniform(-0.5, 0.5) * c))
    return x


def interleave(x, order):
    if order == "iq":
        return np.stack([x.real, x.imag], axis=-1)
    groups = x.reshape(*x.shape[:2], -1, 2)
    return np.stack([groups.real, groups.imag], axis=-2)


def make_case(name):
    rng = np.random.default_rng(20261201)
    if name == "fmcw_complex":
        case = dict(channels=4, pulses=32, samples=128, format="int16", order="iiqq", range_window="hamming",
                    doppler_window="blackman_harris", min_m=2.0, max_m=20.0, sample_rate_hz=10e6, slope_hz_per_s=30e12,
                    forward_backward=1, covariance_loading=0.01, array=1, pfa=1e-4)
        case["calibration"] = (np.exp(1j * rng.uniform(-1, 1, 4)) * rng.uniform(0.8, 1.2, 4)).astype(np.complex64)
        case["input"] = np.rint(interleave(echoes(case, rng), "iiqq")).astype(np.int16)
    elif name == "fmcw_real":
        case = dict(channels=3, pulses=16, samples=120, format="uint16", order="real", zero_level=2048, dc_removal=1,
                    range_window="chebyshev", range_fft_length=256, doppler_window="kaiser", doppler_fft_length=27)
        case.update({"range_window.sidelobe_db": 70, "doppler_window.kaiser_beta": 5.0})
        case["calibration"] = np.array([1, 0.5j, -0.7 + 0.2j], np.complex64)
        case["input"] = np.rint(echoes(case, rng).real + 2148).astype(np.uint16)
    elif name == "pulse_lfm_three_pulse":
        case = dict(channels=4, pulses=33, samples=700, waveform="pulse", format="int16", bandwidth_hz=4e6,
                    pulse_width_s=12e-6, sample_rate_hz=10e6, range_window="taylor", doppler_window="flat_top",
                    canceller="three_pulse", doppler_fft_length=64, covariance_loading=0.1)
        case.update({"range_window.sidelobe_db": 40, "range_window.taylor_nbar": 5})
        case["input"] = np.rint(interleave(echoes(case, rng, clutter=1000.0), "iq")).astype(np.int16)
    elif name == "pulse_replica_two_pulse":
        case = dict(channels=2, pulses=24, samples=509, waveform="pulse", range_window="rectangular",
                    canceller="two_pulse", doppler_window="blackman", forward_backward=1)
        case["replica"] = (rng.normal(size=(64, 2)) @ [1, 1j]).astype(np.complex64)
        case["input"] = interleave(echoes(case, rng), "iq").astype(np.float32)
    elif name == "mean_canceller":
        case = dict(channels=4, pulses=64, samples=96, canceller="mean", range_window="hann")
        case["input"] = interleave(echoes(case, rng, clutter=10e3), "iq").astype(np.float32)
    elif name == "cfar_range":
        case = dict(channels=1, pulses=64, samples=200, cfar_axes="range", pfa=1e-2, range_window="rectangular",
                    doppler_window="rectangular")
        case["input"] = interleave(echoes(case, rng, amplitude=2.0), "iq").astype(np.float32)
    elif name == "cfar_doppler":
        case = dict(channels=3, pulses=64, samples=200, cfar_axes="doppler", doppler_wraps=0, pfa=1e-2,
                    range_window="rectangular", doppler_window="rectangular")
        case["input"] = interleave(echoes(case, rng, amplitude=2.0), "iq").astype(np.float32)
    elif name == "masked_samples":
        case = dict(channels=2, pulses=16, samples=64, dc_removal=1, doppler_wraps=0, pfa=1e-2)
        x = echoes(case, rng) + (500 - 300j)
        bad = rng.uniform(size=x.shape) < 0.05
        x[bad] = rng.choice([np.nan, np.inf, -np.inf], size=bad.sum())
        case["input"] = interleave(x, "iq").astype(np.float32)
    else:
        sys.exit(f"no case {name}")
    return case


def run_product(chain_dump, case, directory):
    for key in ("input", "replica", "calibration"):
        if key in case:
            case[key].tofile(directory / f"{key}.bin")
    text = "".join(f"{key} {value}\n" for key, value in case.items() if not isinstance(value, np.ndarray))
    (directory / "case.txt").write_text(text)
    subprocess.run([chain_dump, str(directory)], check=True)
    return lambda name, kind: np.fromfile(directory / f"{name}.bin", kind)


class Report:
    def __init__(self):
        self.failed = False

    def check(self, what, value, limit):
        verdict = "ok" if value <= limit else "TOO LARGE"
        self.failed |= not value <= limit
        print(f"{what:42s} {value:9.2e}  limit {limit:.0e}  {verdict}")


def relative_error(found, expected, reference=None):
    return np.linalg.norm(found - expected) / np.linalg.norm(expected if reference is None else reference)


def unpack_lower(packed, order):
    rows, columns = np.tril_indices(order)
    full = np.zeros((len(packed), order, order), complex)
    full[:, rows, columns] = packed
    full[:, columns, rows] = np.conj(packed)
    return full


def check_detections(case, product, power, cube, report):
    gate = product("detection_gate", np.int32)
    doppler_bin = product("detection_doppler_bin", np.int32)
    threshold = oracle.cfar(case, power)
    found = set(zip(gate.tolist(), doppler_bin.tolist()))
    expected = {tuple(cell) for cell in np.argwhere(power > threshold).tolist()}
    near_ties = {cell for cell in found ^ expected if abs(power[cell] / threshold[cell] - 1) < 1e-5}
    for cell in sorted(near_ties):
        print(f"near tie at {cell}: power / threshold = {power[cell] / threshold[cell]:.7f}")
    print(f"alarms: {len(found)} found, {len(expected)} expected")
    report.check("alarms that differ", len((found ^ expected) - near_ties), 0)
    report.check("alarms that are missing altogether", 0 if expected else 1, 0)
    if not case.get("array"):
        return
    azimuth_deg = {"adaptive": product("detection_azimuth_deg", np.float64),
                   "Bartlett": product("detection_azimuth_bartlett_deg", np.float64)}
    worst_deg = {"adaptive": 0.0, "Bartlett": 0.0}
    for i, cell in enumerate(zip(gate.tolist(), doppler_bin.tolist())):
        grid_deg, adaptive, bartlett = oracle.bearing_spectra(case, cube, *cell, found)
        for name, spectrum in (("adaptive", adaptive), ("Bartlett", bartlett)):
            error_deg = abs(azimuth_deg[name][i] - grid_deg[np.argmax(spectrum)])
            worst_deg[name] = max(worst_deg[name], error_deg)
    for name, error_deg in worst_deg.items():  # the product refines inside the cell of 0.5 degrees
        report.check(f"azimuth, {name}: off the grid's peak (deg)", error_deg, 0.25 + 1e-6)


def main(chain_dump, name):
    case = make_case(name)
    report = Report()
    with tempfile.TemporaryDirectory() as directory:
        product = run_product(chain_dump, case, pathlib.Path(directory))
        profiles = product("range_profiles", np.complex64).astype(complex)
        profiles = profiles.reshape(case["channels"], case["pulses"], -1)
        gates = profiles.shape[2]
        cube = product("doppler_cube", np.complex64).astype(complex).reshape(gates, case["channels"], -1)
        power = product("range_doppler_power", np.float32).astype(float).reshape(gates, -1)
        packed = product("covariance", np.complex64).astype(complex).reshape(gates, -1)

        raw = case["input"].ravel()
        report.check("unpack, range", relative_error(profiles, oracle.range_profiles(case, oracle.unpack(case, raw))),
                     LIMIT)
        canceller = case.get("canceller", "none")
        pulses = oracle.cancel(canceller, profiles)
        uncancelled = profiles[:, : pulses.shape[1], :]
        report.check("canceller, Doppler", relative_error(cube, oracle.doppler_cube(case, pulses),
                                                          oracle.doppler_cube(case, uncancelled)), LIMIT)
        report.check("canceller, covariance",
                     relative_error(unpack_lower(packed, case["channels"]), oracle.covariance(case, pulses),
                                    oracle.covariance(case, uncancelled)), LIMIT)
        report.check("integration", relative_error(power, oracle.power_map(cube)), LIMIT)
        check_detections(case, product, power, cube, report)
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
