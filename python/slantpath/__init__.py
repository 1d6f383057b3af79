"""One transport stack and one satellite network: simulated, or live on this machine's sockets.

A scenario goes in, Arrow tables come out::

    import slantpath

    output = slantpath.run("scenario.toml", run=3)
    output["messages"].to_pandas()  # any library that takes Arrow data takes the table itself

A topology asks how sites reach each other under a sky of satellites::

    sky = slantpath.topology("scenarios/iridium-london-boston.toml")
    sky["legs"]  # which path, when, with which delay, and why

The planner says which settings carry signalling over a path, and why::

    plan = slantpath.plan(values={"path.round_trip": "650 ms", "band.permanent": "2048 kbit/s",
                                  "signalling.erlang_per_link": 0.5, "signalling.octets": 120})
    plan["sctp.rto_min"], plan.settings["sctp.cwnd"].reason

The engine is the Rust program behind the command ``slantpath``. Other Python threads go on while it runs.
"""

from slantpath import _native
from slantpath._native import Ack, Scenario, Table, Topology, mean_interval, quantile, student_t_quantile
from slantpath.controllers import Controller, Terms, compare_controllers
from slantpath.errors import Fault, InUseError, RunError, ScenarioError, ScenarioWarning
from slantpath.planning import Impossible, Plan, Promise, Setting, plan
from slantpath.running import Job, Kept, Replication, RunOutput, replicate, run, run_jobs, sweep
from slantpath.sky import TopologyOutput, topology
from slantpath.theaterq import theaterq, theaterq_link

__version__ = _native.VERSION

__all__ = [
    "Ack",
    "Controller",
    "Fault",
    "Impossible",
    "InUseError",
    "Job",
    "Kept",
    "Plan",
    "Promise",
    "Replication",
    "RunError",
    "RunOutput",
    "Scenario",
    "ScenarioError",
    "ScenarioWarning",
    "Setting",
    "Table",
    "Terms",
    "Topology",
    "TopologyOutput",
    "__version__",
    "compare_controllers",
    "mean_interval",
    "plan",
    "quantile",
    "replicate",
    "run",
    "run_jobs",
    "student_t_quantile",
    "sweep",
    "theaterq",
    "theaterq_link",
    "topology",
]
