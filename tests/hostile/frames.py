"""Key-value frames as bytes: just enough of the protocol for a server that breaks it."""

import json
import struct

HEADER = struct.Struct(">BBHBBHIIQ")

HELLO = 0x1F
SASL_LIST, SASL_AUTH, SASL_STEP = 0x20, 0x21, 0x22
GET, SET, NOOP = 0x00, 0x01, 0x0A
SELECT_BUCKET = 0x89
GET_CONFIG = 0xB5
GET_COLLECTION_ID = 0xBB
GET_ERROR_MAP = 0xFE
PUSH_CONFIG = 0x01  # the only command that servers send unasked

SUCCESS, NOT_FOUND, NOT_MY_VBUCKET = 0x00, 0x01, 0x07
AUTH_ERROR, AUTH_CONTINUE, UNKNOWN_COMMAND = 0x20, 0x21, 0x81

# What the honest part of a server grants: JSON, XERROR, collections, select bucket, duplex, push.
FEATURES = (0x04, 0x06, 0x07, 0x08, 0x0B, 0x0C, 0x0D, 0x12)


class Request:
    """One request of the client."""

    def __init__(self, magic, opcode, key, extras, value, opaque):
        self.magic, self.opcode, self.opaque = magic, opcode, opaque
        self.key, self.extras, self.value = key, extras, value


def read_request(stream):
    """The next request of a stream with `read(n)`; None at its end."""
    head = stream.read(HEADER.size)
    if len(head) < HEADER.size:
        return None
    magic, opcode, key_size, extras_size, _, _, total, opaque, _ = HEADER.unpack(head)
    framing_size = 0
    if magic == 0x08:
        framing_size, key_size = key_size >> 8, key_size & 0xFF
    body = stream.read(total)
    if len(body) < total:
        return None
    body = body[framing_size:]
    extras, rest = body[:extras_size], body[extras_size:]
    return Request(magic, opcode, rest[:key_size], extras, rest[key_size:], opaque)


def response(request, status=SUCCESS, value=b"", extras=b"", key=b"", **changed):
    """An answer to a request. `changed` replaces header fields, to make a false frame: magic,
    opcode, opaque, total, cas, datatype, key_size, extras_size."""
    total = changed.get("total", len(extras) + len(key) + len(value))
    head = HEADER.pack(
        changed.get("magic", 0x81), changed.get("opcode", request.opcode),
        changed.get("key_size", len(key)), changed.get("extras_size", len(extras)),
        changed.get("datatype", 0), status, total, changed.get("opaque", request.opaque),
        changed.get("cas", 0))
    return head + extras + key + value


def pushed_configuration(configuration, revision):
    """A configuration that a server sends unasked."""
    value = json.dumps(configuration).encode()
    extras = struct.pack(">qq", 1, revision) if revision < 2 ** 63 else struct.pack(">qQ", 1, revision)
    key = configuration.get("name", "").encode()
    head = HEADER.pack(0x82, PUSH_CONFIG, len(key), len(extras), 0x01, 0,
                       len(extras) + len(key) + len(value), 0, 0)
    return head + extras + key + value


def configuration(bucket, ports, revision=1, vbucket_count=64, services=None, hosts=None):
    """A cluster's configuration: node i is at hosts[i]:ports[i]. Vbuckets are assigned in turn."""
    hosts = hosts or ["127.0.0.1"] * len(ports)
    nodes = [{"hostname": host, "services": {"kv": port, **(services or {})}}
             for host, port in zip(hosts, ports)]
    return {
        "rev": revision, "revEpoch": 1, "name": bucket, "nodeLocator": "vbucket",
        "uuid": "0" * 32, "nodesExt": nodes,
        "nodes": [{"hostname": f"{host}:8091", "ports": {"direct": port}}
                  for host, port in zip(hosts, ports)],
        "bucketCapabilities": ["collections", "cccp", "xattr"],
        "vBucketServerMap": {
            "hashAlgorithm": "CRC", "numReplicas": 0,
            "serverList": [f"{host}:{port}" for host, port in zip(hosts, ports)],
            "vBucketMap": [[index % len(ports)] for index in range(vbucket_count)]}}


def cluster_configuration(ports, revision=1, services=None):
    """The configuration of the cluster itself, without a bucket."""
    return {"rev": revision, "revEpoch": 1, "nodesExt": [
        {"hostname": "127.0.0.1", "services": {"kv": port, **(services or {})}}
        for port in ports]}


def error_map():
    return json.dumps({"version": 1, "revision": 1, "errors": {
        "7fe0": {"name": "HOSTILE_BUSY", "desc": "try again", "attrs": ["temp", "retry-later"]}}})
