"""The certificate with which PDF readers show a report's signer.

PDF readers know X.509 certificates, and hardly any of them Ed25519. So a service signs its PDFs
with a separate key and certificate: the site's own, or a self-signed pair created at the first
start (P-256, valid for ten years).
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, TypeAlias

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import NameOID

from models.errors import InstallerError
from server.process.atomic_file import write_whole
from stream.signing import write_private_key

CERTIFICATE_FILE: Final = "report-certificate.pem"
KEY_FILE: Final = "report-certificate.key"
_VALID: Final = timedelta(days=3653)

PrivateKey: TypeAlias = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


@dataclass(frozen=True, slots=True)
class Identity:
    """The signer of a PDF."""

    key: PrivateKey
    chain: tuple[x509.Certificate, ...]
    """The signer's certificate, then its issuers'."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the signer's certificate, in hex."""
        return self.chain[0].fingerprint(SHA256()).hex()

    def pem(self) -> bytes:
        """Return the chain as PEM, for those who want to trust it."""
        return b"".join(one.public_bytes(Encoding.PEM) for one in self.chain)


@dataclass(frozen=True, slots=True)
class Certified:
    """A PDF's signature that fits."""

    subject: str
    """Whom its certificate names."""
    fingerprint: str
    """SHA-256 of that certificate, in hex."""
    from_ns: int
    """Begin of its validity, nanoseconds since the Unix epoch, UTC …"""
    to_ns: int
    """… and its end."""


def identity_in(state: Path, name: str, now_ns: int) -> Identity:
    """Return the identity in a service's state folder; the first call creates it.

    Args:
        state: the folder.
        name: the owner's name in a created certificate.
        now_ns: start of its validity, nanoseconds since the Unix epoch, UTC.

    Raises:
        InstallerError: a file there is invalid.
        OperatorError: they cannot be written.
    """
    certificate, key = state / CERTIFICATE_FILE, state / KEY_FILE
    if not certificate.exists() and not key.exists():
        made = _made(name, datetime.fromtimestamp(now_ns // 1_000_000_000, UTC))
        write_private_key(key, made.key)
        write_whole(certificate, made.chain[0].public_bytes(Encoding.PEM))
    return read_identity(certificate, key)


def read_identity(certificate: Path, key: Path) -> Identity:
    """Read a certificate, followed by its issuers', and its private key, both PEM.

    Raises:
        InstallerError: one of them is missing or invalid, they do not match, or others can read the
            key.
    """
    try:
        chain = tuple(x509.load_pem_x509_certificates(_read(certificate)))
    except ValueError as fault:
        raise _refused(certificate, "this is no X.509 certificate in PEM") from fault
    private = _private_key(key)
    if _public(chain[0].public_key()) != _public(private.public_key()):
        raise _refused(key, f"this is not the key of {certificate.name}")
    return Identity(private, chain)


def _private_key(path: Path) -> PrivateKey:
    content = _read(path)
    if path.stat().st_mode & 0o077:
        raise InstallerError(
            "the key can be read by others, so its signatures prove nothing",
            where=str(path),
            way_out=f"chmod 600 {path}",
        )
    try:
        key = load_pem_private_key(content, password=None)
    except (ValueError, TypeError) as fault:
        raise _refused(path, "this is no private key in PEM without a password") from fault
    if not isinstance(key, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey):
        raise _refused(path, "PDF readers take an RSA or elliptic-curve key")
    return key


def _made(name: str, now: datetime) -> Identity:
    key = ec.generate_private_key(ec.SECP256R1())
    owner = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    uses = dict.fromkeys(_OTHER_USES, False)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(owner)
        .issuer_name(owner)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now)
        .not_valid_after(now + _VALID)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(
            x509.KeyUsage(digital_signature=True, content_commitment=True, **uses), critical=True
        )
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, SHA256())
    )
    return Identity(key, (certificate,))


_OTHER_USES: Final = (
    "key_encipherment",
    "data_encipherment",
    "key_agreement",
    "key_cert_sign",
    "crl_sign",
    "encipher_only",
    "decipher_only",
)


def _public(key: object) -> bytes:
    assert hasattr(key, "public_bytes")
    return bytes(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as fault:
        raise InstallerError(
            f"it cannot be read ({fault.strerror})",
            where=str(path),
            way_out=f"Name both {CERTIFICATE_FILE} and {KEY_FILE}, or remove the one that is left",
        ) from fault


def _refused(path: Path, what: str) -> InstallerError:
    return InstallerError(
        what,
        where=str(path),
        way_out="Name the certificate's PEM file, and the private key's that belongs to it",
    )
