#!/usr/bin/env python3
"""Checks one channel of the chain that cuda_stage_bench wrote against double precision: check_chain.py FOLDER."""
import sys

import numpy as np

folder = sys.argv[1]
PULSES, SAMPLES, BINS, PFA = 128, 9000, 256, 1e-5
x = np.fromfile(folder + "/input.c64", np.complex64).reshape(PULSES, SAMPLES).astype(np.complex128)
replica = np.fromfile(folder + "/replica.c128", np.complex128)
gates = SAMPLES - replica.size + 1
found = np.fromfile(folder + "/map.f32", np.float32).reshape(gates, BINS)
words = np.fromfile(folder + "/hits.u32", np.uint32).reshape(gates, BINS // 32)
hits = (words[:, :, None] >> np.arange(32, dtype=np.uint32) & 1).astype(bool).reshape(gates, BINS)

# As the example does it: rows padded to 16384, product with the conjugate spectrum, the valid lags kept.
profiles = np.fft.ifft(np.fft.fft(x, 16384) * np.conj(np.fft.fft(replica, 16384)))[:, :gates]
padded = np.pad(profiles, ((1, 1), (0, 0)))
cancelled = padded[:-2] - 2 * padded[1:-1] + padded[2:]
cancelled[:126] *= np.hamming(126)[:, None]
power = np.abs(np.fft.fft(cancelled, BINS, axis=0).T) ** 2


def box(values, range_reach, doppler_reach):
    """Sums over the window, cells beyond the edges left out."""
    values = np.pad(values, ((range_reach, range_reach), (doppler_reach, doppler_reach)))
    rows = sum(values[i : values.shape[0] - 2 * range_reach + i] for i in range(2 * range_reach + 1))
    return sum(rows[:, i : rows.shape[1] - 2 * doppler_reach + i] for i in range(2 * doppler_reach + 1))


count = box(np.ones_like(power), 6, 2) - box(np.ones_like(power), 1, 1)
threshold = (PFA ** (-1 / count) - 1) * (box(power, 6, 2) - box(power, 1, 1))
expected = power > threshold
error = np.linalg.norm(found - power) / np.linalg.norm(power)
noise = np.abs(power / np.median(power)) < 30
noise_error = np.linalg.norm((found - power)[noise]) / np.linalg.norm(power[noise])
differing = expected != hits
far = differing & (np.abs(power / threshold - 1) > 1e-5)
print(f"check: map off by {error:.1e} (relative L2; cells of noise alone {noise_error:.1e}), "
      f"{hits.sum()} alarms, {expected.sum()} expected, {differing.sum()} differ, {far.sum()} of them beyond 1e-5")
sys.exit(0 if error < 4e-6 and not far.any() and hits.sum() > 5 else 1)
