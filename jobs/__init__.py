"""Training runs on Dask: an embedded cluster by default, a real one by giving its scheduler's address."""

from jobs.files import Upload
from jobs.manager import ClusterError, JobError, JobLimits, Manager, QueueFull
from jobs.run import Run

__all__ = ["ClusterError", "JobError", "JobLimits", "Manager", "QueueFull", "Run", "Upload"]
