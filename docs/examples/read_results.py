"""Strongest cell and detections of each CPI: python3 read_results.py walk.result.h5"""
import sys

import xarray  # Debian: python3-xarray python3-h5netcdf

results = xarray.open_dataset(sys.argv[1], engine="h5netcdf")
for cpi in results.cpi.values:
    power = results.range_doppler_power.sel(cpi=cpi)
    peak = power[power.argmax(...)]
    print(f"CPI {cpi}: highest cell at {peak.range:.2f} m, {peak.range_rate:+.2f} m/s")
    of_cpi = results.isel(detection=results.detection_cpi.values == cpi)
    for range_m, snr_db in zip(of_cpi.detection_range_m.values, of_cpi.detection_snr_db.values):
        print(f"  detection at {range_m:.2f} m, SNR {snr_db:.1f} dB")
