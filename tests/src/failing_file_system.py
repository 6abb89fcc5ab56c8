#!/usr/bin/env python3
"""A file system (FUSE) that shows a folder and fails on request: what a server, a quota or a dying disk does, without one.

Usage: failing_file_system.py FOLDER MOUNT_POINT FAULTS; each line of the file FAULTS is a call of FUSE and what it fails with
from then on: "write ESTALE". Runs until it is unmounted. Needs /dev/fuse, the right to mount, and Debian's python3-fusepy.
"""

import errno
import os
import pathlib
import subprocess
import sys
import time

try:
    import fusepy
except (ImportError, OSError):  # without libfuse
    fusepy = None


class FailingFileSystem:
    """Mounted until the end of the block."""

    def __init__(self, folder):
        self.mount_point, self.faults = folder / "mounted", folder / "faults"
        self.shown = folder / "shown"
        for each in (self.mount_point, self.shown):
            each.mkdir()
        self.faults.touch()

    def fail(self, **calls):
        """write="ESTALE": every write from now on; without any, nothing more fails."""
        self.faults.write_text("".join(f"{call} {name}\n" for call, name in calls.items()))

    def __enter__(self):
        self.process = subprocess.Popen([sys.executable, __file__, self.shown, self.mount_point, self.faults])
        while not self.mount_point.is_mount():
            if self.process.poll() is not None:
                raise OSError("the failing file system cannot be mounted")
            time.sleep(0.01)
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", "-l", self.mount_point], check=False)
        self.process.kill()  # another test's mount namespace may have a copy of the mount, and keep it from ending by itself
        self.process.wait(30)


def can_be_mounted():
    return fusepy is not None and os.geteuid() == 0 and os.access("/dev/fuse", os.R_OK | os.W_OK)


if fusepy:
    class Shown(fusepy.Operations):
        def __init__(self, folder, faults):
            self.folder, self.faults = folder, pathlib.Path(faults)

        def __call__(self, call, path, *arguments):
            faults = dict(line.split() for line in self.faults.read_text().splitlines())
            if call in faults:
                raise fusepy.FuseOSError(getattr(errno, faults[call]))
            return super().__call__(call, self.folder + path, *arguments)

        def getattr(self, path, handle=None):
            about = os.lstat(path)
            return {key: getattr(about, key) for key in dir(about) if key.startswith("st_")}

        def readdir(self, path, handle):
            return [".", "..", *os.listdir(path)]

        def create(self, path, mode, information=None):
            return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)

        def read(self, path, size, offset, handle):
            return os.pread(handle, size, offset)

        def write(self, path, data, offset, handle):
            return os.pwrite(handle, data, offset)

        def truncate(self, path, length, handle=None):
            os.truncate(path, length)

        def fsync(self, path, only_data, handle):
            os.fsync(handle)

        def flush(self, path, handle):  # at each close(2)
            pass

        def release(self, path, handle):
            os.close(handle)

        def rename(self, path, new):
            os.rename(path, self.folder + new)

        open, unlink, mkdir, rmdir, chmod = os.open, os.unlink, os.mkdir, os.rmdir, os.chmod


if __name__ == "__main__":
    fusepy.FUSE(Shown(*sys.argv[1::2]), sys.argv[2], foreground=True, nothreads=True)
