"""Many models at once: processes of this machine, or jobs of a cluster, through Dask."""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from commands.console import ERR, print_result, progress_bar, say
from commands.evaluate import ClusterKind, Job, evaluate_one
from stimuli.errors import InputError

if TYPE_CHECKING:
    from distributed import Client

# What a cluster job asks for unless --job-options says otherwise.
JOB_DEFAULTS = {"cores": "4", "memory": "16GB", "walltime": "04:00:00"}
# A job is one model at a time: its threads are the model's.
_ONE_MODEL: dict[str, Any] = {"processes": 1}
_WHOLE_NUMBERS = {"cores", "processes"}


def run_on_cluster(
    jobs: list[Job],
    *,
    kind: ClusterKind | None,
    n_workers: int,
    job_options: str = "",
    prints_only: bool = False,
) -> dict[str, str]:
    """Evaluate models at once; return the reasons of those that failed, by name.

    Parameters
    ----------
    jobs
        The models.
    kind
        The cluster's scheduler; None for processes of this machine.
    n_workers
        Models at once.
    job_options
        ``name=value`` words for dask-jobqueue.
    prints_only
        Print the job script and evaluate nothing.

    Raises
    ------
    InputError
        Dask isn't installed, or an option isn't one.
    """
    missing = [name for name in ("distributed", "dask_jobqueue") if find_spec(name) is None]
    if missing:
        raise InputError(
            f"--workers and --cluster need {', '.join(missing)}; "
            "install the extra: pip install 'objecthood[cluster]'"
        )
    if prints_only:
        if kind is None:
            raise InputError("--print-job goes with --cluster slurm, pbs or sge")
        print_result(write_job_script(kind, parse_job_options(job_options)))
        return {}
    from distributed import Client

    with (
        _start(kind, n_workers=n_workers, job_options=job_options) as cluster,
        Client(cluster) as client,
    ):
        return _gather(client, jobs)


def parse_job_options(text: str) -> dict[str, Any]:
    """Return the options of a cluster job: the defaults and what was given.

    Raises
    ------
    InputError
        A word isn't ``name=value``.

    Examples
    --------
    >>> parse_job_options("cores=8")["cores"]
    8
    """
    words = [word.partition("=") for word in text.split()]
    wrong = [name for name, equals, value in words if not (name and equals and value)]
    if wrong:
        raise InputError(f"--job-options: {wrong[0]!r} isn't name=value, e.g. cores=8 memory=32GB")
    found: dict[str, Any] = JOB_DEFAULTS | {name: value for name, _, value in words}
    for name in _WHOLE_NUMBERS & set(found):
        if not str(found[name]).isdecimal():
            raise InputError(f"--job-options: {name}={found[name]} isn't a whole number")
        found[name] = int(found[name])
    return found


def write_job_script(kind: ClusterKind, options: dict[str, Any]) -> str:
    """Return the script that is handed to the scheduler for each job.

    Raises
    ------
    InputError
        dask-jobqueue has no such option.
    """
    from dask_jobqueue.pbs import PBSJob
    from dask_jobqueue.sge import SGEJob
    from dask_jobqueue.slurm import SLURMJob

    classes = {"slurm": SLURMJob, "pbs": PBSJob, "sge": SGEJob}
    try:
        # The address is that of the evaluating process, another one in each run.
        job = classes[kind](
            scheduler="tcp://EVALUATING-MACHINE:PORT", name="objecthood", **(_ONE_MODEL | options)
        )
    except (TypeError, ValueError) as error:
        raise InputError(f"--cluster {kind}, --job-options: {error}") from error
    return job.job_script()


def _make_cluster(kind: ClusterKind, options: dict[str, Any]) -> Any:  # noqa: ANN401 (dask's, untyped)
    from dask_jobqueue.pbs import PBSCluster
    from dask_jobqueue.sge import SGECluster
    from dask_jobqueue.slurm import SLURMCluster

    write_job_script(kind, options)  # refuses what isn't an option before anything is started
    classes = {"slurm": SLURMCluster, "pbs": PBSCluster, "sge": SGECluster}
    return classes[kind](scheduler_options={"dashboard_address": None}, **(_ONE_MODEL | options))


def _start(kind: ClusterKind | None, *, n_workers: int, job_options: str) -> Any:  # noqa: ANN401 (dask's)
    """Return a cluster with its workers on the way."""
    from distributed import LocalCluster

    if kind is None:
        cluster = LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,  # type: ignore[arg-type]  (none at all)
            memory_limit=0,  # models are larger than Dask's guess of a fair share
        )
    else:
        cluster = _make_cluster(kind, parse_job_options(job_options))
        cluster.scale(jobs=n_workers)
    return cluster


def _gather(client: "Client", jobs: list[Job]) -> dict[str, str]:
    from distributed import as_completed

    names = {client.submit(evaluate_quietly, job, pure=False): job.name for job in jobs}
    failures: dict[str, str] = {}
    with progress_bar("models", total=len(jobs)) as advance:
        for future in as_completed(list(names)):
            name = names[future]
            # A worker may die (memory, a crash in a library): that is this model's failure only.
            reason = future.result() if future.status == "finished" else repr(future.exception())
            if reason is None:
                say(f"{name}: done")
            else:
                failures[name] = reason
                ERR.print(f"failed: {name}: {reason}", markup=False, style="red")
            advance()
    return failures


def evaluate_quietly(job: Job) -> str | None:
    """Evaluate one model in another process; return the reason if it failed."""
    try:
        evaluate_one(job)
    except InputError as error:
        return str(error)
    return None
