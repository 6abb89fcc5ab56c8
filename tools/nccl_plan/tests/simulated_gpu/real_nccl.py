"""What tests over a real libnccl and simulated GPUs share: the library, and a machine."""

import mmap
import os
import pathlib
import re
import sys


def installed():
    """The files that `scripts/setup real-nccl` installed, by version, the oldest first."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "collbench/nccl"
    files = {path.name: path / "nvidia/nccl/lib/libnccl.so.2" for path in cache.glob("[0-9]*[0-9]")}
    versions = sorted(files, key=lambda version: [int(number) for number in version.split(".")])
    return {version: files[version] for version in versions if files[version].exists()}


def library():
    """COLLBENCH_REAL_NCCL, else that of the CUDA folder, else the newest that is installed; None without any."""
    named = os.environ.get("COLLBENCH_REAL_NCCL")
    if named is not None:
        return pathlib.Path(named)
    cuda = pathlib.Path("/usr/local/cuda/lib/libnccl.so.2")
    if cuda.exists():
        return cuda
    return next(reversed(installed().values()), None)


LIBRARY = library()


def version():
    """(2, 28, 9), as the library's own text has it."""
    with LIBRARY.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        found = re.search(rb"NCCL version (\d+)\.(\d+)\.(\d+)\+cuda", text)
        return tuple(int(number) for number in found.groups())


def skip_without_library():
    if LIBRARY is None:
        print("off: no libnccl is here (scripts/setup real-nccl installs some)")
        sys.exit(77)


def node(gpus=8, links=18, sm=90, nics=True, nic_speed=400000, vendor="GenuineIntel"):
    """A node as those with H100 GPUs are: NVSwitches that are not visible, a NIC beside each GPU."""
    lines = ['<system version="1">']
    for gpu in range(gpus):
        if gpu % (gpus // 2 or 1) == 0:
            lines += ["</cpu>"] * (gpu > 0)
            lines.append(f'<cpu numaid="{gpu * 2 // gpus}" affinity="ffff" arch="x86_64" vendor="{vendor}" familyid="6" modelid="143">')
        lines.append(f'<pci busid="0000:{gpu:x}0:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">')
        lines.append(f'<pci busid="0000:{gpu:x}1:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">'
                     f'<gpu dev="{gpu}" sm="{sm}" gdr="1"><nvlink target="fffffff:ffff:ff" count="{links}" tclass="0x068000"/></gpu></pci>')
        if nics:
            lines.append(f'<pci busid="0000:{gpu:x}2:00.0" class="0x020000" link_speed="32.0 GT/s PCIe" link_width="16"><nic>'
                         f'<net name="mlx5_{gpu}" dev="{gpu}" speed="{nic_speed}" port="1" guid="0x{gpu + 1:x}" gdr="1"/></nic></pci>')
        lines.append("</pci>")
    return "\n".join(lines + ["</cpu>", "</system>"])
