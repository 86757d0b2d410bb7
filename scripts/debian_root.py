"""A Debian system in a folder, for tests that must not depend on this machine: made by mmdebstrap
from the mirror that apt uses here, entered by chroot. Needs root."""

import shutil
import subprocess
from pathlib import Path


def find_mirror():
    """The address from which apt gets Debian's main archive on this machine."""
    listed = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI) $(LABEL) $(COMPONENT)",
         "Created-By: Packages"], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        address, _, rest = line.partition(" ")
        if rest == "Debian main":
            return address
    raise RuntimeError("apt on this machine knows no Debian archive")


class DebianRoot:
    """Deletes the folder's content first; `with` deletes it again at the end."""

    def __init__(self, folder, suite, packages):
        self.folder = Path(folder)
        shutil.rmtree(self.folder, ignore_errors=True)
        subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", '--aptopt=Dpkg::Use-Pty "0"',
                        f"--include={','.join(packages)}", suite, self.folder, find_mirror()],
                       check=True)
        shutil.copy("/etc/resolv.conf", self.folder / "etc/resolv.conf")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def copy(self, source, target):
        """Copies a file or a folder to a path inside."""
        place = self.folder / target.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        if Path(source).is_dir():
            shutil.copytree(source, place, dirs_exist_ok=True)
        else:
            shutil.copy(source, place)

    def run(self, script, inputs=""):
        """Runs a shell script inside, with its own process list; it must succeed."""
        command = ["unshare", "--mount", "--pid", "--fork", f"--root={self.folder}",
                   "--mount-proc", "sh", "-ec", script]
        subprocess.run(command, check=True, text=True, input=inputs,
                       env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8",
                            "DEBIAN_FRONTEND": "noninteractive", "HOME": "/tmp"})
