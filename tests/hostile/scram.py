"""The server's half of SCRAM-SHA-512 (RFC 5802), and the ways to get it wrong."""

import base64
import hashlib
import hmac

SALT = bytes(range(64))
ROUNDS = 4096


def _hmac(key, text):
    return hmac.new(key, text, hashlib.sha512).digest()


class Exchange:
    """One login. With the wrong password everything looks right except the last signature."""

    def __init__(self, password, rounds=ROUNDS):
        self.password, self.rounds = password, rounds
        self.client_first = self.server_first = ""

    def challenge(self, message, keeps_nonce=True, salt=SALT):
        self.client_first = message.decode().removeprefix("n,,")
        nonce = self.client_first.split("r=", 1)[1]
        combined = (nonce if keeps_nonce else "0123456789abcdef") + "5e47e2"
        salted = base64.b64encode(salt).decode()
        self.server_first = f"r={combined},s={salted},i={self.rounds}"
        return self.server_first.encode()

    def signature(self, message):
        """The answer to the client's proof, which is not checked: this server accepts any login."""
        without_proof = message.decode().rsplit(",p=", 1)[0]
        salted = hashlib.pbkdf2_hmac("sha512", self.password.encode(), SALT, self.rounds)
        conversation = ",".join((self.client_first, self.server_first, without_proof))
        signed = _hmac(_hmac(salted, b"Server Key"), conversation.encode())
        return b"v=" + base64.b64encode(signed)
