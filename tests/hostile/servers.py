"""Servers that behave unless a script changes an answer: key-value, HTTP, and both behind TLS.

Every server listens on a loopback port (or on an address of the test's network namespace), keeps
every byte it received, and ends with the test.
"""

import json
import socket
import ssl
import threading

import frames
import scram

USER, PASSWORD = "app", "correct-horse-7f3a"


class Counter:
    """Counts open connections and their maximum. Several servers may share one counter."""

    def __init__(self):
        self.lock = threading.Lock()
        self.now = self.most = 0

    def add(self, step):
        with self.lock:
            self.now += step
            self.most = max(self.most, self.now)


class Server:
    """Accepts connections and calls `talk(stream, connection)` for each, on its own threads."""

    def __init__(self, address="127.0.0.1", tls=None, counter=None):
        self.listener = socket.create_server((address, 0), backlog=1024)
        self.address, self.port = self.listener.getsockname()[:2]
        self.tls = tls
        self.lock = threading.Lock()
        self.received = bytearray()
        self.accepted = 0
        self.counter = counter or Counter()
        self.connections = set()
        self.is_stopping = False
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.is_stopping = True
        self.listener.close()
        with self.lock:
            left = list(self.connections)
        for connection in left:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _accept(self):
        while not self.is_stopping:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                self.accepted += 1
                self.connections.add(connection)
            self.counter.add(1)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, plain):
        try:
            connection = plain
            if self.tls is not None:
                connection = self.tls.wrap_socket(plain, server_side=True)
            self.talk(_Recorded(connection, self), connection)
        except (OSError, ssl.SSLError, ValueError):
            pass  # the client is gone or refused the server; the test decides about that
        finally:
            with self.lock:
                self.connections.discard(plain)
            self.counter.add(-1)
            plain.close()

    def talk(self, stream, connection):
        raise NotImplementedError

    def saw(self, *needles):
        """True if any of these bytes ever arrived here."""
        with self.lock:
            return any(needle in self.received for needle in needles)


class _Recorded:
    """Reads from a connection. The server keeps everything that is read."""

    def __init__(self, connection, owner):
        self.connection, self.owner = connection, owner

    def read(self, count):
        parts = []
        while count > 0:
            part = self.connection.recv(min(count, 65536))
            if not part:
                break
            with self.owner.lock:
                self.owner.received += part
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def read_until(self, mark):
        text = b""
        while not text.endswith(mark):
            part = self.read(1)
            if not part:
                return text
            text += part
        return text


class Silent(Server):
    """Accepts and reads, but never answers."""

    def talk(self, stream, connection):
        while stream.read(1):
            pass


class Talker(Server):
    """Sends the same bytes to every client, then keeps reading."""

    def __init__(self, greeting, **options):
        self.greeting = greeting
        super().__init__(**options)

    def talk(self, stream, connection):
        connection.sendall(self.greeting)
        while stream.read(1):
            pass


class KeyValue(Server):
    """A one-node cluster. `script` maps an opcode to a function (server, session, request) that
    returns bytes to send, None to close, or SILENCE. Other opcodes get the usual answer."""

    SILENCE = b""

    def __init__(self, script=None, password=PASSWORD, bucket="travel", services=None,
                 mechanisms=b"SCRAM-SHA512", configure=None, **options):
        self.script = dict(script or {})
        self.password, self.bucket, self.services = password, bucket, services
        self.mechanisms, self.configure = mechanisms, configure
        self.counts = {}
        self.documents = {b"k": b'{"n":1}'}
        super().__init__(**options)

    def configuration(self, revision=1, **changed):
        if self.configure is not None:
            return self.configure(self)
        return frames.configuration(
            self.bucket, [self.port], revision=revision, services=self.services, **changed)

    def talk(self, stream, connection):
        session = {"login": scram.Exchange(self.password), "bucket": b"", "connection": connection}
        while (request := frames.read_request(stream)) is not None:
            with self.lock:
                self.counts[request.opcode] = self.counts.get(request.opcode, 0) + 1
            answer = self.script.get(request.opcode, KeyValue.honest)(self, session, request)
            if answer is None:
                return
            connection.sendall(answer)

    def honest(self, session, request):
        """The usual answer of a server."""
        answer = {
            frames.HELLO: self._hello, frames.GET_ERROR_MAP: self._error_map,
            frames.SASL_LIST: self._mechanisms, frames.SASL_AUTH: self._auth,
            frames.SASL_STEP: self._step, frames.SELECT_BUCKET: self._select,
            frames.GET_CONFIG: self._config, frames.GET: self._get, frames.SET: self._set,
            frames.NOOP: lambda _, asked: frames.response(asked)}
        unknown = lambda _, asked: frames.response(asked, frames.UNKNOWN_COMMAND)
        return answer.get(request.opcode, unknown)(session, request)

    def _hello(self, _, request):
        asked = {int.from_bytes(request.value[at:at + 2], "big")
                 for at in range(0, len(request.value), 2)}
        granted = b"".join(code.to_bytes(2, "big") for code in frames.FEATURES if code in asked)
        return frames.response(request, value=granted)

    def _error_map(self, _, request):
        return frames.response(request, value=frames.error_map().encode(), datatype=1)

    def _mechanisms(self, _, request):
        return frames.response(request, value=self.mechanisms)

    def _auth(self, session, request):
        if request.key != b"SCRAM-SHA512":
            return frames.response(request, frames.SUCCESS)
        return frames.response(
            request, frames.AUTH_CONTINUE, session["login"].challenge(request.value))

    def _step(self, session, request):
        return frames.response(request, value=session["login"].signature(request.value))

    def _select(self, session, request):
        session["bucket"] = request.key
        return frames.response(request)

    def _config(self, session, request):
        text = (self.configuration() if session["bucket"]
                else frames.cluster_configuration([self.port], services=self.services))
        return frames.response(request, value=json.dumps(text).encode(), datatype=1)

    def _get(self, _, request):
        value = self.documents.get(request.key[1:])
        if value is None:
            return frames.response(request, frames.NOT_FOUND)
        return frames.response(request, value=value, extras=bytes((2, 0, 0, 0)), cas=7, datatype=1)

    def _set(self, _, request):
        self.documents[request.key[1:]] = request.value
        return frames.response(request, cas=8)


class Http(Server):
    """Answers every request with the result of `answer(server, head, body)`. None closes."""

    def __init__(self, answer, **options):
        self.answer = answer
        self.requests = 0
        super().__init__(**options)

    def talk(self, stream, connection):
        while head := stream.read_until(b"\r\n\r\n"):
            size = 0
            for line in head.decode("latin-1").split("\r\n"):
                if line.lower().startswith("content-length:"):
                    size = int(line.split(":", 1)[1])
            body = stream.read(size)
            with self.lock:
                self.requests += 1
            answer = self.answer(self, head, body)
            if answer is None:
                return
            connection.sendall(answer)


def http_answer(body, status="200 OK", **fields):
    """A complete HTTP answer. Names in `fields` have underscores for dashes."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
