"""Reports every arrow that points upwards: check_layers.py ROOT prints one line each and exits with 1 if there is any.

An include or a linked target may name the same unit or a lower one. A unit is a folder of `UNITS` below.
"""
import pathlib
import re
import sys

FOLDERS = ["dsp", "kernels", "src", "gui"]  # low to high
UNITS = {  # low to high; units of one row do not know each other
    "dsp": [["vocabulary"], ["math"], ["config"], ["theory"], ["stage"], ["chain"], ["simulate"]],
    "src": [["support"], ["config"], ["capture", "result"], ["stream"], ["batch"], ["cli"]],
}
FOREIGN_HEADERS = {
    "CUDA": r"(cuda|cufft|cublas|cusolver|curand|nvrtc|nvToolsExt)\w*\.h|(cuda|thrust|cub)/.*",
    "Qt": r"Q[A-Z]\w*(/.*)?|Qt\w+/.*|q[a-z]+\.h",
    "HDF5": r"hdf5\w*\.h|H5\w*\.h",
    "files": r"fstream|filesystem",
}
FOREIGN_TARGETS = {"CUDA": r"CUDA::\w+", "Qt": r"Qt\d?::\w+|QCustomPlot\w*::\w+", "HDF5": r"(HDF5|hdf5)::\w+"}
MUST_NOT_KNOW = {"dsp": ["files", "CUDA", "Qt", "HDF5"], "kernels": ["files", "Qt", "HDF5"], "src": ["Qt"], "gui": []}
TARGETS = {
    "cornerturn_dsp": "dsp",
    "cornerturn_cuda": "kernels",
    "cornerturn_gui": "gui",
    "cornerturn-gui": "gui",
    "cornerturn_app": "src",
    **{f"cornerturn_{unit}": f"src/{unit}" for row in UNITS["src"] for unit in row},
}
SOURCES = {".h", ".cpp", ".cu", ".cuh"}


def rank(folder, unit):
    return next((i for i, row in enumerate(UNITS[folder]) if unit in row), None)


def arrow_problem(source, target):
    """Says why the file at path `source` may not know `target` (a path or 'folder/unit'); None if it may."""
    (folder, *rest), (other, *other_rest) = source.split("/"), target.split("/")
    if FOLDERS.index(other) > FOLDERS.index(folder):
        return f"{folder} is below {other}"
    if other != folder or folder not in UNITS or len(rest) < 2 or not other_rest:
        return None
    unit, other_unit = rest[0], other_rest[0]
    if unit == other_unit or None in (rank(folder, unit), rank(folder, other_unit)):
        return None  # an unknown unit is reported where it stands
    if rank(folder, other_unit) > rank(folder, unit):
        return f"{folder}/{unit} is below {folder}/{other_unit}"
    if rank(folder, other_unit) == rank(folder, unit):
        return f"{folder}/{unit} and {folder}/{other_unit} stand side by side"
    return None


def foreign_problem(folder, name, patterns):
    for library in MUST_NOT_KNOW[folder]:
        if library in patterns and re.fullmatch(patterns[library], name):
            return f"{folder} must not know {library}"
    return None


def source_problems(path, text):
    folder, *rest = path.split("/")
    if folder in UNITS and (len(rest) < 2 or rank(folder, rest[0]) is None):
        yield 1, f"{path} stands in no known unit of {folder}: give it its place in tests/architecture/check_layers.py"
    for number, line in enumerate(text.splitlines(), 1):
        include = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if not include:
            continue
        quote, name = include.groups()
        problem = foreign_problem(folder, name, FOREIGN_HEADERS)
        if not problem and name.split("/")[0] in FOLDERS and "/" in name:
            problem = arrow_problem(path, name)
        elif not problem and quote == '"':
            problem = "our own headers are named from the root, others in angle brackets"
        if problem:
            yield number, f"includes {name}: {problem}"


def cmake_problems(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        for name in re.findall(r"[\w-]+(?:::\w+)?", line.split("#")[0]):
            problem = foreign_problem(path.split("/")[0], name, FOREIGN_TARGETS)
            if not problem and name in TARGETS:
                problem = arrow_problem(path, TARGETS[name])
            if problem:
                yield number, f"names {name}: {problem}"


def problems(root):
    for folder in FOLDERS:
        for file in sorted(p for p in (root / folder).rglob("*") if p.is_file()):
            path = file.relative_to(root).as_posix()
            if file.suffix in SOURCES:
                found = source_problems(path, file.read_text())
            elif file.name == "CMakeLists.txt":
                found = cmake_problems(path, file.read_text())
            else:
                continue
            for number, problem in found:
                yield f"{path}:{number}: {problem}"


if __name__ == "__main__":
    found = list(problems(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "every arrow points downwards")
    sys.exit(1 if found else 0)
