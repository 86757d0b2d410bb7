"""Certificates for the TLS tests, made by the openssl program: one authority, good and bad leaves.

All files are in a temporary folder that is removed with the object.
"""

import os
import ssl
import subprocess
import tempfile

_AUTHORITY = """
[ca]
default_ca = ours
[ours]
dir = {folder}
database = $dir/index.txt
new_certs_dir = $dir
rand_serial = yes
default_md = sha256
policy = any
copy_extensions = copy
unique_subject = no
[any]
commonName = supplied
"""


class Certificates:
    """`ca` is the trusted authority's file. `server(name)` returns the context of a TLS server."""

    # By name: common name, alternative names, and the dates unless valid from now on.
    LEAVES = {
        "good": ("node", "IP:127.0.0.1,DNS:localhost", None),
        "another host": ("node", "DNS:elsewhere.example,IP:127.9.9.9", None),
        "expired": ("node", "IP:127.0.0.1", ("20200101000000Z", "20200102000000Z")),
        "not yet valid": ("node", "IP:127.0.0.1", ("20900101000000Z", "20910101000000Z")),
        "only a common name": ("localhost", None, None),
    }

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.settings = self._path("authority.cnf")
        with open(self.settings, "w", encoding="utf-8") as file:
            file.write(_AUTHORITY.format(folder=self.folder.name))
        open(self._path("index.txt"), "w", encoding="utf-8").close()
        self.ca = self._path("ca.pem")
        self._make_authority(self.ca, self._path("ca.key"))
        for name, (common, others, dates) in self.LEAVES.items():
            self._make_leaf(name, common, others, dates)
        self._make_authority(self._path("self signed.pem"), self._path("self signed.key"),
                             ("-addext", "subjectAltName=IP:127.0.0.1"))

    def close(self):
        self.folder.cleanup()

    def server(self, name):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self._path(f"{name}.pem"), self._path(f"{name}.key"))
        return context

    def _path(self, name):
        return os.path.join(self.folder.name, name)

    def _run(self, *arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True)

    def _make_authority(self, certificate, key, more=()):
        self._run("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                  "-nodes", "-keyout", key, "-out", certificate, "-days", "30",
                  "-subj", "/CN=hostile tests", *more)

    def _make_leaf(self, name, common, others, dates):
        request = self._path("request.pem")
        extension = ("-addext", f"subjectAltName={others}") if others else ()
        self._run("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                  "-keyout", self._path(f"{name}.key"), "-out", request,
                  "-subj", f"/CN={common}", *extension)
        when = ("-startdate", dates[0], "-enddate", dates[1]) if dates else ("-days", "30")
        self._run("ca", "-batch", "-config", self.settings, "-cert", self.ca,
                  "-keyfile", self._path("ca.key"), "-in", request, "-notext",
                  "-out", self._path(f"{name}.pem"), *when)
