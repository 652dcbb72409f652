"""The peer's side of run_cpu_bench: scipy_chain.py THREADS CHANNELS PULSES SAMPLES REPLICA INPUT.

The same chain in single precision with what SciPy users have: scipy.fft with workers, ndimage for the CFAR sums, BLAS for
the correlation matrices. Answers "chain" with milliseconds and "map FILE" by writing the map of the last CPI.
The tables (replica spectrum, windows, thresholds' factors) are made before, as in the product.
"""
import sys
import time

import numpy as np
import scipy.fft
from scipy import ndimage, signal, stats

TRAIN, GUARD = (8, 4), (2, 2)  # range, Doppler


class Chain:
    def __init__(self, threads, channels, pulses, samples, replica_count, path):
        self.workers = threads
        self.raw = np.fromfile(path, np.int16).reshape(pulses, channels, 2 * samples)
        self.gates = samples - replica_count + 1
        self.bins = pulses
        t = np.arange(replica_count) / 10e6 - replica_count / 10e6 / 2
        replica = np.exp(1j * np.pi * 8e6 / (replica_count / 10e6) * t**2)
        weights = signal.get_window("hann", replica_count)
        reference = weights * replica / np.sum(weights)
        self.reference = np.conj(np.fft.fft(reference, samples)).astype(np.complex64)
        doppler = signal.get_window("hann", pulses - 2)
        self.doppler = (doppler / doppler.sum()).astype(np.float32)[:, None, None]
        self.factor_outer, self.factor_inner = self.make_factors(channels)

    def make_factors(self, looks):
        rows = np.arange(self.gates)

        def rows_inside(half):
            return np.minimum(rows + half, self.gates - 1) - np.maximum(rows - half, 0) + 1

        outer = rows_inside(TRAIN[0] + GUARD[0]) * (2 * (TRAIN[1] + GUARD[1]) + 1)
        inner = rows_inside(GUARD[0]) * (2 * GUARD[1] + 1)
        count = outer - inner
        alpha = stats.f.isf(1e-6, 2 * looks, 2 * looks * count)
        # uniform_filter divides by the whole window, zeros beyond the edge included
        whole = [(2 * (TRAIN[0] + GUARD[0]) + 1) * (2 * (TRAIN[1] + GUARD[1]) + 1),
                 (2 * GUARD[0] + 1) * (2 * GUARD[1] + 1)]
        return [(alpha / count * size).astype(np.float32)[:, None] for size in whole]

    def run(self):
        x = self.raw.astype(np.float32).view(np.complex64)  # (pulse, channel, sample)
        spectrum = scipy.fft.fft(x, axis=-1, overwrite_x=True, workers=self.workers)
        spectrum *= self.reference
        profiles = scipy.fft.ifft(spectrum, axis=-1, overwrite_x=True, workers=self.workers)[..., : self.gates]
        pulses = profiles[2:] - 2 * profiles[1:-1] + profiles[:-2]
        spectra = scipy.fft.fft(pulses * self.doppler, self.bins, axis=0, overwrite_x=True, workers=self.workers)
        power = np.mean(spectra.real**2 + spectra.imag**2, axis=1)  # (bin, gate)
        power = np.ascontiguousarray(np.fft.fftshift(power, axes=0).T)

        size = [2 * (t + g) + 1 for t, g in zip(TRAIN, GUARD)]
        outer = ndimage.uniform_filter(power, size, mode=("constant", "wrap"))
        inner = ndimage.uniform_filter(power, [2 * g + 1 for g in GUARD], mode=("constant", "wrap"))
        alarms = np.argwhere(power > outer * self.factor_outer - inner * self.factor_inner)

        snapshots = np.ascontiguousarray(pulses.transpose(2, 1, 0))  # (gate, channel, pulse)
        covariance = np.matmul(snapshots, snapshots.conj().transpose(0, 2, 1)) / snapshots.shape[2]
        return power, alarms, covariance


def main():
    chain = Chain(*(int(a) for a in sys.argv[1:6]), sys.argv[6])
    power = None
    for line in sys.stdin:
        words = line.split()
        if words[0] == "chain":
            start = time.perf_counter()
            power, alarms, covariance = chain.run()
            print(1e3 * (time.perf_counter() - start), flush=True)
            del alarms, covariance
        elif words[0] == "map":
            power.astype(np.float32).tofile(words[1])
            print("written", flush=True)


main()
