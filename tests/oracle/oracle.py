"""The chain written anew from its formulas, in double precision: the oracle of the product's single-precision stages.

Shapes follow the product's: range profiles (channel, pulse, gate), Doppler cube (gate, channel, bin), map (gate, bin).
"""
import numpy as np
from scipy import signal, stats

SPEED_OF_LIGHT_MPS = 299792458.0


def window(case, key, count):
    """Windows by SciPy; cosine sums and Kaiser periodic, Chebyshev and Taylor symmetric."""
    kind = case.get(key, "hann")
    if kind == "chebyshev":
        return signal.windows.chebwin(count, case[key + ".sidelobe_db"], sym=True)
    if kind == "taylor":
        return signal.windows.taylor(count, nbar=int(case[key + ".taylor_nbar"]), sll=case[key + ".sidelobe_db"],
                                     norm=False, sym=True)
    if kind == "kaiser":
        return signal.windows.kaiser(count, case[key + ".kaiser_beta"], sym=False)
    name = {"rectangular": "boxcar", "blackman_harris": "blackmanharris", "flat_top": "flattop"}.get(kind, kind)
    return signal.get_window(name, count, fftbins=True)


def unpack(case, raw):
    """(pulse, channel, ...) scalars -> (channel, pulse, sample) complex, masked, without mean, calibrated."""
    shape = (case["pulses"], case["channels"])
    order = case.get("order", "iq")
    values = raw.astype(np.float64) - case.get("zero_level", 0.0)
    if order == "real":
        x = values.reshape(*shape, -1).astype(complex)
    elif order == "iq":
        pairs = values.reshape(*shape, -1, 2)
        x = pairs[..., 0] + 1j * pairs[..., 1]
    elif order == "iiqq":
        groups = values.reshape(*shape, -1, 2, 2)  # (group, i or q, sample of the group)
        x = (groups[..., 0, :] + 1j * groups[..., 1, :]).reshape(*shape, -1)
    x = x.transpose(1, 0, 2)
    good = np.isfinite(x)
    x = np.where(good, x, 0)
    if case.get("dc_removal"):
        x = np.where(good, x - x.sum(axis=-1, keepdims=True) / good.sum(axis=-1, keepdims=True), 0)
    if "calibration" in case:
        x = x * case["calibration"].astype(complex)[:, None, None]
    return x


def lfm_replica(case):
    count = round(case["pulse_width_s"] * case["sample_rate_hz"])
    t = np.arange(count) / case["sample_rate_hz"] - case["pulse_width_s"] / 2
    return np.exp(1j * np.pi * case["bandwidth_hz"] / case["pulse_width_s"] * t**2)


def range_profiles(case, x):
    samples = case["samples"]
    if case.get("waveform") == "pulse":
        replica = case["replica"].astype(complex) if "replica" in case else lfm_replica(case)
        weights = window(case, "range_window", len(replica))
        reference = weights * replica / np.sum(weights * np.abs(replica) ** 2)
        # y[g] = sum_i x[g + i] conj(r[i]), by a convolution long enough that nothing wraps around
        return signal.fftconvolve(x, np.conj(reference[::-1])[None, None, :], mode="valid", axes=-1)
    length = case.get("range_fft_length", samples) or samples
    weights = window(case, "range_window", samples)
    spectrum = np.fft.fft(x * (weights / weights.sum()), length, axis=-1)
    if case.get("order") == "real":
        spectrum = 2 * spectrum[..., : length // 2 + 1]
    if case.get("max_m"):
        step_m = SPEED_OF_LIGHT_MPS * case["sample_rate_hz"] / (2 * case["slope_hz_per_s"] * length)
        ranges_m = np.arange(spectrum.shape[-1]) * step_m
        spectrum = spectrum[..., (ranges_m >= case["min_m"]) & (ranges_m <= case["max_m"])]
    return spectrum


def cancel(kind, profiles):
    if kind == "mean":
        return profiles - profiles.mean(axis=1, keepdims=True)
    if kind == "two_pulse":
        return np.diff(profiles, axis=1)
    if kind == "three_pulse":
        return np.diff(profiles, n=2, axis=1)
    return profiles


def doppler_cube(case, pulses):
    """(channel, pulse, gate) -> (gate, channel, bin), zero Doppler at L // 2."""
    length = case.get("doppler_fft_length", 0) or case["pulses"]
    weights = window(case, "doppler_window", pulses.shape[1])
    spectrum = np.fft.fft(pulses * (weights / weights.sum())[None, :, None], length, axis=1)
    return np.fft.fftshift(spectrum, axes=1).transpose(2, 0, 1)


def power_map(cube):
    return np.mean(np.abs(cube) ** 2, axis=1)


def covariance(case, pulses):
    x = pulses.transpose(2, 0, 1)
    r = x @ np.conj(np.swapaxes(x, 1, 2)) / x.shape[2]
    if case.get("forward_backward"):
        r = (r + np.conj(r[:, ::-1, ::-1])) / 2
    order = r.shape[1]
    loading = case.get("covariance_loading", 0.0) * np.trace(r, axis1=1, axis2=2).real / order
    return r + loading[:, None, None] * np.eye(order)


def cfar(case, power):
    """Threshold of each cell from the training cells that exist: rectangle less guard rectangle, F quantile."""
    gates, bins = power.shape
    axes = case.get("cfar_axes", "range_doppler")
    train_r, guard_r = (0, 0) if axes == "doppler" else (8, 2)
    train_d, guard_d = (0, 0) if axes == "range" else (4, 2)
    wraps = case.get("doppler_wraps", 1)

    def box(values, half_r, half_d):
        rows = np.stack([values[max(0, g - half_r): g + half_r + 1].sum(axis=0) for g in range(gates)])
        if wraps:
            return sum(np.roll(rows, shift, axis=1) for shift in range(-half_d, half_d + 1))
        return np.stack([rows[:, max(0, b - half_d): b + half_d + 1].sum(axis=1) for b in range(bins)], axis=1)

    ones = np.ones_like(power)
    outer, inner = (train_r + guard_r, train_d + guard_d), (guard_r, guard_d)
    count = np.rint(box(ones, *outer) - box(ones, *inner))
    mean = (box(power, *outer) - box(power, *inner)) / count
    looks = case["channels"]
    alpha = stats.f.isf(case.get("pfa", 1e-3), 2 * looks, 2 * looks * count)
    return alpha * mean


def bearing_spectra(case, cube, gate, doppler_bin, alarms):
    """Adaptive and Bartlett statistic over azimuth of one detection (half-wavelength line)."""
    grid_deg = np.arange(-60.0, 60.0 + 1e-9, 0.5)
    channels = case["channels"]
    steering = np.exp(1j * np.pi * np.arange(channels)[:, None] * np.sin(np.deg2rad(grid_deg)))
    train = [g for side in (-1, 1) for g in range(gate + side * 3, gate + side * 11, side)
             if 0 <= g < cube.shape[0] and (g, doppler_bin) not in alarms]
    x = cube[train, :, doppler_bin].T
    r = x @ x.conj().T / x.shape[1]
    r = r + 1e-2 * np.trace(r).real / channels * np.eye(channels)
    inverse = np.linalg.inv(r)
    snapshot = cube[gate, :, doppler_bin]
    adaptive = np.abs(steering.conj().T @ inverse @ snapshot) ** 2 / np.einsum(
        "mk,mn,nk->k", steering.conj(), inverse, steering).real
    return grid_deg, adaptive, np.abs(steering.conj().T @ snapshot) ** 2
