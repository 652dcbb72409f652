"""Reads a result file with ncdump, h5netcdf, netCDF4 and xarray; fails when they disagree on what is in it."""
import re
import subprocess
import sys

import h5netcdf
import netCDF4
import numpy
import xarray


def ncdump_variables(path):
    """Names as ncdump prints them: {group path: {variable: dimensions}}."""
    text = subprocess.run(["ncdump", "-h", path], check=True, capture_output=True, text=True).stdout
    groups, stack, in_variables = {"/": {}}, [], False
    for line in text.splitlines():
        if start := re.match(r"\s*group: (\S+) \{", line):
            stack.append(start[1])
            groups["/" + "/".join(stack)] = {}
        elif re.match(r"\s*\} // group", line):
            stack.pop()
        elif re.match(r"\s*variables:", line):
            in_variables = True
        elif re.match(r"\s*(//|data:|dimensions:|types:)", line):
            in_variables = False
        elif in_variables and (found := re.match(r"\s*\S+ (\w+)(?:\((.*)\))? ;", line)):
            groups["/" + "/".join(stack)][found[1]] = tuple((found[2] or "").split(", "))
    return groups


def h5netcdf_variables(group):
    names = {name: tuple(v.dimensions) for name, v in group.variables.items()}
    groups = {group.name: names}
    for child in group.groups.values():
        groups.update(h5netcdf_variables(child))
    return groups


def main(path):
    from_ncdump = ncdump_variables(path)
    with h5netcdf.File(path, "r") as file:
        from_h5netcdf = h5netcdf_variables(file)
        unlimited = {name for name, dimension in file.dimensions.items() if dimension.isunlimited()}
    assert from_ncdump == from_h5netcdf, f"ncdump: {from_ncdump}\nh5netcdf: {from_h5netcdf}"
    assert unlimited == {"cpi", "detection", "gap"}, unlimited
    for group, variables in from_ncdump.items():
        for name, dimensions in variables.items():
            assert not any("phony" in d for d in dimensions), f"{group}/{name} has an axis without scale"

    with netCDF4.Dataset(path) as file:
        for name, variable in file.variables.items():
            assert "long_name" in variable.ncattrs() and "units" in variable.ncattrs(), name

    dataset = xarray.open_dataset(path, engine="h5netcdf")
    assert dataset.range_doppler_power.dims == ("cpi", "range", "range_rate")
    assert dataset.covariance.dtype == numpy.complex64
    matrices = dataset.covariance.values
    assert numpy.array_equal(matrices, matrices.conj().swapaxes(-1, -2)), "covariance is not Hermitian"
    masks = numpy.atleast_1d(dataset.detection_flags.attrs["flag_masks"])
    assert list(masks) == [1, 2, 4, 8] and masks.dtype == numpy.uint8
    assert len(dataset.detection_flags.attrs["flag_meanings"].split()) == len(masks)
    assert set(dataset.detection_cpi.values) <= set(dataset.cpi.values)
    for cpi, count in zip(dataset.cpi.values, dataset.detection_count.values):
        assert (dataset.detection_cpi.values == cpi).sum() == count
    print("variables:", sum(len(v) for v in from_ncdump.values()))


main(sys.argv[1])
