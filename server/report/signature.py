"""Reports as signed bundles: a page, or a PDF that bears the signature that readers know too."""

from server.bundle.bundle import Bundle, Open, Verdict, blank_for, joined
from server.bundle.containers import PAGE, PDF
from server.bundle.manifest import Head, Manifest, damaged
from server.report.certificate import Identity
from stream.clock import utc
from stream.signing import Signer


def report_of(subject: str, at_ns: int, *journals: Head) -> Manifest:
    """Return the manifest of a report, without its files."""
    return Manifest(kind="report", subject=subject, at=at_ns, journals=journals)


def signed_page(content: bytes, manifest: Manifest, signer: Signer) -> bytes:
    """Return an HTML report with its seal as its last line."""
    return joined(PAGE, manifest, {"report.html": content}, signer)


def signed_paper(content: bytes, manifest: Manifest, signer: Signer, identity: Identity) -> bytes:
    """Return a PDF report with the signature of ``identity``, and its seal beside that."""
    from server.report.pades import certified

    whole = certified(content, identity, manifest.at, blank_for(manifest, signer))
    return joined(PDF, manifest, {"report.pdf": whole}, signer)


def check_report(bundle: Bundle) -> Verdict:
    """Check the signature that PDF readers show.

    Raises:
        TechnicianError: it does not fit, or does not cover the whole file.
    """
    pdf, at_ns = bundle.content.get("report.pdf"), bundle.manifest.at
    (file,) = bundle.manifest.files
    if pdf is None:
        return Verdict(details={"sha256": file.sha256, "certificate": None})
    from server.report.pades import NotCertified, check_certified

    try:
        found = check_certified(pdf)
    except NotCertified as fault:
        raise damaged(bundle.path, str(fault)) from fault
    details = {"sha256": file.sha256, "certificate": found}
    fits = f"that its PDF signature fits: {found.subject}, certificate sha256 {found.fingerprint}"
    if found.from_ns <= at_ns <= found.to_ns:
        return Verdict((fits,), (), details)
    expired = f"the PDF signature: its certificate was not valid at {utc(at_ns)}"
    return Verdict((fits,), (Open(expired, of_maker=True),), details)
