"""The layer check itself: what must be reported is, and what is allowed is not."""
import pathlib
import tempfile
import unittest

import check_layers


def report(files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text + "\n")
        return list(check_layers.problems(root))


class LayerCheck(unittest.TestCase):
    def test_accepts_arrows_downwards(self):
        self.assertEqual([], report({
            "gui/window.cpp": '#include <QWidget>\n#include "src/stream/session.h"',
            "src/cli/main.cpp": '#include <CLI/CLI.hpp>\n#include "src/batch/run.h"\n#include "dsp/vocabulary/axis.h"',
            "src/result/sink.cpp": '#include "src/result/sink.h"\n#include <hdf5.h>\n#include "src/config/chain.h"',
            "kernels/backend.cu": '#include <cufft.h>\n#include "kernels/backend.cuh"\n#include "dsp/chain/backend.h"',
            "dsp/stage/cfar.h": '#include <vector>\n#include <queue>\n#include "dsp/math/window.h"',
            "src/result/CMakeLists.txt": "cornerturn_add_library(cornerturn_result DEPENDS cornerturn_config HDF5::HDF5)",
            "gui/CMakeLists.txt": "target_link_libraries(cornerturn-gui PRIVATE cornerturn_stream Qt6::Widgets)",
        }))

    def test_reports_each_forbidden_line(self):
        for path, line, reason in [
            ("dsp/stage/cfar.cpp", '#include "kernels/backend.h"', "dsp is below kernels"),
            ("dsp/stage/cfar.cpp", '#include "src/config/chain.h"', "dsp is below src"),
            ("dsp/stage/cfar.cpp", '#  include "gui/window.h"', "dsp is below gui"),
            ("kernels/fft.cu", '#include "src/capture/source.h"', "kernels is below src"),
            ("kernels/fft.cu", '#include "gui/window.h"', "kernels is below gui"),
            ("src/cli/main.cpp", '#include "gui/window.h"', "src is below gui"),
            ("src/support/text.h", '#include "src/config/chain.h"', "src/support is below src/config"),
            ("src/config/chain.h", '#include "src/capture/source.h"', "src/config is below src/capture"),
            ("src/capture/source.h", '#include "src/result/sink.h"', "side by side"),
            ("src/result/sink.h", '#include "src/capture/source.h"', "side by side"),
            ("src/result/sink.h", '#include "src/stream/ring.h"', "src/result is below src/stream"),
            ("src/stream/ring.h", '#include "src/batch/run.h"', "src/stream is below src/batch"),
            ("src/batch/run.h", '#include "src/cli/options.h"', "src/batch is below src/cli"),
            ("dsp/vocabulary/axis.h", '#include "dsp/math/window.h"', "dsp/vocabulary is below dsp/math"),
            ("dsp/theory/gain.h", '#include "dsp/stage/cfar.h"', "dsp/theory is below dsp/stage"),
            ("dsp/chain/chain.h", '#include "dsp/simulate/echo.h"', "dsp/chain is below dsp/simulate"),
            ("dsp/stage/fft.cpp", "#include <cuda_runtime.h>", "dsp must not know CUDA"),
            ("dsp/stage/fft.cpp", "#include <QVector>", "dsp must not know Qt"),
            ("dsp/stage/fft.cpp", "#include <hdf5.h>", "dsp must not know HDF5"),
            ("dsp/stage/fft.cpp", "#include <fstream>", "dsp must not know files"),
            ("kernels/fft.cu", "#include <QtCore/qglobal.h>", "kernels must not know Qt"),
            ("kernels/fft.cu", "#include <H5Fpublic.h>", "kernels must not know HDF5"),
            ("src/cli/main.cpp", "#include <QApplication>", "src must not know Qt"),
            ("src/cli/main.cpp", '#include "options.h"', "named from the root"),
            ("src/extra/thing.h", "#pragma once", "no known unit"),
            ("dsp/thing.h", "#pragma once", "no known unit"),
            ("dsp/CMakeLists.txt", "target_link_libraries(cornerturn_dsp PUBLIC cornerturn_support)", "dsp is below src"),
            ("dsp/CMakeLists.txt", "target_link_libraries(cornerturn_dsp PUBLIC HDF5::HDF5)", "dsp must not know HDF5"),
            ("kernels/CMakeLists.txt", "target_link_libraries(cornerturn_cuda PRIVATE Qt6::Core)", "must not know Qt"),
            ("src/config/CMakeLists.txt", "cornerturn_add_library(x DEPENDS cornerturn_capture)", "below src/capture"),
            ("src/capture/CMakeLists.txt", "cornerturn_add_library(x DEPENDS cornerturn_result)", "side by side"),
        ]:
            with self.subTest(path=path, line=line):
                found = report({path: line})
                self.assertEqual(1, len(found), found)
                self.assertIn(reason, found[0])
                self.assertTrue(found[0].startswith(f"{path}:1: "), found[0])


if __name__ == "__main__":
    unittest.main()
