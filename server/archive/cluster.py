"""Parts of the work on a Dask cluster: every worker shares one folder with the command.

A part is sent again where its worker dies. Its results are files, so that neither the scheduler nor
the network between carries them, and memory does not grow with the archive. Every worker reads the
files under the same path and runs the same program.
"""

from collections.abc import Iterator, Sequence
from typing import Final, Self, TypeVar

from distributed import Client, KilledWorker

from models.errors import InstallerError, TechnicianError
from server.archive.parts import Part, settle_part

T = TypeVar("T")

_PARTS_A_CORE: Final = 4
"""Parts for each core of the cluster: few enough to be long, enough that no core waits long."""
_ANSWER: Final = "10s"


class Cluster:
    """The scheduler at an address, and its workers; a context manager.

    Raises:
        InstallerError: the scheduler cannot be reached, or has no worker.
    """

    def __init__(self, url: str) -> None:
        try:
            self._client = Client(url, timeout=_ANSWER, set_as_default=False)
        except (OSError, ValueError) as fault:
            raise InstallerError(
                f"the cluster cannot be reached ({fault})",
                where=url,
                way_out="Name its scheduler: --cluster tcp://HOST:8786, started with "
                "`dask scheduler`",
            ) from fault
        self._cores: int = sum(self._client.nthreads().values())
        if not self._cores:
            self._client.close()
            raise InstallerError(
                "the cluster has no worker",
                where=url,
                way_out=f"Start some: dask worker {url} --nthreads 1",
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        self._client.close()

    def parts_of(self, files: int) -> int:
        """Return into how many parts to share out so many files."""
        return max(1, min(files, self._cores * _PARTS_A_CORE))

    def settled(self, parts: Sequence[Part[T]]) -> Iterator[Part[T]]:
        """Yield the parts, in order, each when its results are in its folder.

        Raises:
            InstallerError: a worker runs another program.
            OperatorError: the folder holds other results, or cannot be written.
            TechnicianError: a part ended several workers.
        """
        futures = [self._client.submit(settle_part, part, pure=False) for part in parts]
        for part, future in zip(parts, futures, strict=True):
            try:
                future.result()
            except KilledWorker as fault:
                raise TechnicianError(
                    "every worker that settled it died",
                    where=str(part.folder),
                    way_out="Look at the workers' memory, or settle it without --cluster",
                ) from fault
            yield part
