"""The signature that PDF readers show: PAdES B-B (ETSI EN 319 142-1), over the whole file.

It certifies the document, so that readers report any later addition. It uses no network: no time
stamp, no revocation list.
"""

import asyncio
import io
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from asn1crypto import cms, core, keys, x509
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.pdf_utils.misc import PdfError
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.attributes import CMSAttributeProvider, UnsignedAttributeProviderSpec
from pyhanko.sign.fields import MDPPerm, SigSeedSubFilter
from pyhanko.sign.general import SigningError
from pyhanko.sign.signers.pdf_byterange import BuildProps
from pyhanko.sign.signers.pdf_cms import PdfCMSSignedAttributes, SimpleSigner
from pyhanko.sign.signers.pdf_signer import PdfSignatureMetadata, PdfSigner
from pyhanko.sign.validation import SignatureCoverageLevel, async_validate_pdf_signature
from pyhanko.sign.validation.errors import SignatureValidationError
from pyhanko_certvalidator import ValidationContext
from pyhanko_certvalidator.registry import SimpleCertificateStore

from server.report.certificate import Certified, Identity

FIELD: Final = "Pitwatch"
_SEAL: Final = f"2.25.{uuid.UUID('5d8a1f0e-6b0c-4e0a-9c55-2b7f6a1c9e04').int}"
"""The type of the unsigned attribute with the service's own signature (ITU-T X.667)."""


class NotCertified(Exception):
    """A PDF's signature is missing or invalid; the message gives the reason."""


def certified(pdf: bytes, identity: Identity, at_ns: int, seal: bytes) -> bytes:
    """Return a PDF with its signature.

    Args:
        pdf: the file.
        identity: the signer.
        at_ns: the time, nanoseconds since the Unix epoch, UTC.
        seal: added beside the signature, in hex, and not covered by it.
    """
    return asyncio.run(_certified(pdf, identity, at_ns, seal))


def check_certified(pdf: bytes) -> Certified:
    """Check that a PDF is unchanged since it was certified; the caller judges the certificate.

    Raises:
        NotCertified: it has changed.
    """
    try:
        return asyncio.run(_checked(pdf))
    except (PdfError, SignatureValidationError, SigningError, ValueError, TypeError) as fault:
        raise NotCertified(f"its PDF signature cannot be read ({fault})") from fault


async def _certified(pdf: bytes, identity: Identity, at_ns: int, seal: bytes) -> bytes:
    signer = _signer(identity)
    signer.unsigned_attr_prov_spec = _SealSpec(seal)
    about = PdfSignatureMetadata(
        field_name=FIELD,
        md_algorithm="sha256",
        subfilter=SigSeedSubFilter.PADES,
        certify=True,
        docmdp_permissions=MDPPerm.NO_CHANGES,
        reason="The report is as Pitwatch made it",
        app_build_props=BuildProps(name="Pitwatch"),
    )
    session = PdfSigner(about, signer).init_signing_session(
        IncrementalPdfFileWriter(io.BytesIO(pdf))
    )
    session.system_time = datetime.fromtimestamp(at_ns // 1_000_000_000, UTC)
    room = await session.estimate_signature_container_size(None)
    prepared = session.prepare_tbs_document(None, room)
    digested, written = prepared.digest_tbs_document()
    attributes = PdfCMSSignedAttributes(signing_time=session.system_time)
    await prepared.perform_signature(digested.document_digest, attributes)
    assert isinstance(written, io.BytesIO)
    return written.getvalue()


def _signer(identity: Identity) -> SimpleSigner:
    plain = identity.key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    chain = [x509.Certificate.load(one.public_bytes(Encoding.DER)) for one in identity.chain]
    registry = SimpleCertificateStore()  # type: ignore[no-untyped-call]
    registry.register_multiple(chain)
    return SimpleSigner(chain[0], keys.PrivateKeyInfo.load(plain), registry)


async def _checked(pdf: bytes) -> Certified:
    signatures = PdfFileReader(io.BytesIO(pdf)).embedded_signatures
    if len(signatures) != 1 or signatures[0].field_name != FIELD:
        raise NotCertified("it does not bear one PDF signature, its own")
    found = signatures[0]
    context = ValidationContext(trust_roots=[found.signer_cert], allow_fetching=False)
    status = await async_validate_pdf_signature(found, context)
    if not (status.intact and status.valid):
        raise NotCertified("its PDF signature does not fit")
    if status.coverage != SignatureCoverageLevel.ENTIRE_FILE:
        raise NotCertified("its PDF signature does not cover all of it")
    signer = found.signer_cert
    valid = signer.not_valid_before, signer.not_valid_after
    from_ns, to_ns = (int(one.timestamp()) * 1_000_000_000 for one in valid)
    return Certified(signer.subject.human_friendly, signer.sha256.hex(), from_ns, to_ns)


class _SealProvider(CMSAttributeProvider):
    attribute_type = _SEAL

    def __init__(self, seal: bytes) -> None:
        self._seal = seal

    async def build_attr_value(self, dry_run: bool = False) -> core.OctetString:  # noqa: ARG002
        return core.OctetString(self._seal)


class _SealSpec(UnsignedAttributeProviderSpec):
    """Adds the service's own signature beside the one that readers know."""

    def __init__(self, seal: bytes) -> None:
        self._seal = seal

    def unsigned_attr_providers(
        self,
        signature: bytes,  # noqa: ARG002
        signed_attrs: cms.CMSAttributes,  # noqa: ARG002
        digest_algorithm: str,  # noqa: ARG002
    ) -> Iterator[CMSAttributeProvider]:
        yield _SealProvider(self._seal)
