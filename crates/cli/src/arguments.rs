//! What may be written on the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use slantpath_base::Duration;

/// Simulates transport protocols over satellite networks.
#[derive(Debug, Parser)]
#[command(name = "slantpath", version, about, max_term_width = 100)]
#[command(after_help = "Exit status: 0 done, 1 failed, 2 misused, 3 done although flows failed or demands
cannot be met, 130 interrupted.

\
The Python package (pip install .) adds `slantpath plot DIR` and `slantpath study NAME`.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print a script with which a shell completes this command: `slantpath completions bash > slantpath.bash`.
    Completions(CompletionsArguments),
    /// Print the manual page of the program or of a command: `slantpath man run | man -l -`.
    Man(ManArguments),
    /// Work out which settings carry signalling over a path, why, and with what margin.
    Plan(PlanArguments),
    /// Run a scenario once or several times and print a summary.
    Run(RunArguments),
    /// Print the JSON Schema of the scenario file, or of another, for editors.
    Schema(SchemaArguments),
    /// Run a grid of scenarios on all cores. What was interrupted goes on where it was.
    Sweep(SweepArguments),
    /// Tell which path, which delay and which handover there is between sites under a sky of satellites.
    Topology(TopologyArguments),
}

#[derive(Args, Debug)]
pub(crate) struct CompletionsArguments {
    /// The shell that is to complete.
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Args, Debug)]
pub(crate) struct ManArguments {
    /// The command; the whole program if absent.
    pub(crate) command: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct SchemaArguments {
    /// The file that is described.
    #[arg(value_enum, default_value_t = SchemaOf::Scenario)]
    pub(crate) of: SchemaOf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SchemaOf {
    /// What `slantpath plan` reads.
    Plan,
    /// What `slantpath run` reads.
    Scenario,
    /// What `slantpath sweep` reads.
    Sweep,
    /// What `slantpath topology` reads.
    Topology,
}

#[derive(Args, Debug)]
pub(crate) struct PlanArguments {
    /// What is known, as TOML; the flags alone if absent.
    pub(crate) question: Option<PathBuf>,
    /// From a packet to its acknowledgement, with nothing waiting: `650 ms`.
    #[arg(long, value_name = "TIME")]
    pub(crate) round_trip: Option<String>,
    /// The share of packets that the path loses.
    #[arg(long, value_name = "SHARE")]
    pub(crate) loss: Option<String>,
    /// What the terminal may send for good, in bits of Ethernet: `2048 kbit/s`.
    #[arg(long, value_name = "RATE")]
    pub(crate) permanent: Option<String>,
    /// What it may send beyond that when it has been asked for.
    #[arg(long, value_name = "RATE")]
    pub(crate) on_demand: Option<String>,
    /// How long that takes.
    #[arg(long, value_name = "TIME")]
    pub(crate) allocation_time: Option<String>,
    /// How many signalling links there are; 30 if absent.
    #[arg(long, value_name = "N")]
    pub(crate) links: Option<String>,
    /// The share of each link's time that its messages take.
    #[arg(long, value_name = "ERLANG")]
    pub(crate) erlang: Option<String>,
    /// The largest step by which that grows at once.
    #[arg(long, value_name = "ERLANG")]
    pub(crate) step: Option<String>,
    /// Octets of a message on a link.
    #[arg(long, value_name = "N")]
    pub(crate) octets: Option<String>,
    /// In which time a path that fails has to be left.
    #[arg(long, value_name = "TIME")]
    pub(crate) failover: Option<String>,
    /// Set a value of the file: `band.interruption=1 s`.
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// How the answer is written.
    #[arg(long, value_enum, default_value_t = PlanFormat::Text)]
    pub(crate) format: PlanFormat,
    /// Simulate the answer and its neighbours, and say whether the formulas held.
    #[arg(long)]
    pub(crate) verify: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanFormat {
    /// The settings of a signalling gateway, by name.
    Gateway,
    /// For programs.
    Json,
    /// The configuration of osmo-stp.
    OsmoStp,
    /// The settings of Linux.
    Sysctl,
    /// For people.
    Text,
    /// A scenario that `slantpath run` takes.
    Toml,
}

#[derive(Args, Debug)]
pub(crate) struct TopologyArguments {
    /// The topology file.
    pub(crate) topology: PathBuf,
    #[command(flatten)]
    pub(crate) common: CommonArguments,
    /// How many stretches of each path are printed.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) rows: usize,
    /// Write every table (Parquet and CSV), figures, the merged topology and a manifest into this directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write a CZML scene of each path for the Cesium globe, and the files that Hypatia's simulator reads, into
    /// this directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) export: Option<PathBuf>,
    /// Time between Hypatia's forwarding states, in whole milliseconds.
    #[arg(long, value_name = "TIME", requires = "export", default_value = "1 s", value_parser = whole_milliseconds)]
    pub(crate) export_step: Duration,
    /// Print the summary as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the merged topology with every default written out, and do not work it out.
    #[arg(long, conflicts_with_all = ["json", "out", "export"])]
    pub(crate) show: bool,
}

#[derive(Args, Debug)]
pub(crate) struct RunArguments {
    /// The scenario file.
    pub(crate) scenario: PathBuf,
    /// What every random draw derives from, in place of the scenario's `seed`.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// How many independent runs to make; means get 99 % intervals from them.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) reps: u32,
    #[command(flatten)]
    pub(crate) common: CommonArguments,
    /// Write the packets of a link to `LINK.pcapng` in `--out`, of the first run if there are several.
    #[arg(long, value_name = "LINK", requires = "out")]
    pub(crate) pcap: Vec<String>,
    /// Write every table (Parquet and CSV), the merged scenario and a manifest into this directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print as JSON: what was run, means of all that has means, and flows that failed.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the merged scenario with every default written out, and do not run it.
    #[arg(long, conflicts_with_all = ["json", "out"])]
    pub(crate) show: bool,
}

#[derive(Args, Debug)]
pub(crate) struct SweepArguments {
    /// The sweep file: a base scenario, axes of values and repetitions.
    pub(crate) sweep: PathBuf,
    #[command(flatten)]
    pub(crate) common: CommonArguments,
    /// Where the finished runs and the joined tables go.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct CommonArguments {
    /// Threads; one for each processor if absent. Results do not depend on it.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, value_parser = threads)]
    pub(crate) jobs: usize,
    /// Replace a value of the scenario, for example `links.satellite.loss="3 %"`. May be given several times.
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
}

/// A step that the names of Hypatia's directories can tell: they count milliseconds.
fn whole_milliseconds(text: &str) -> Result<Duration, String> {
    let step: Duration = text.parse().map_err(|error: slantpath_base::QuantityError| error.to_string())?;
    if step.is_zero() || !step.as_nanos().is_multiple_of(1_000_000) {
        return Err("give whole milliseconds, at least one, like `100 ms`".to_owned());
    }
    Ok(step)
}

/// Threads at most: more than any machine has processors for, and few enough for every machine to start.
const THREADS_MAX: usize = 1_024;

fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads) if threads <= THREADS_MAX => Ok(threads),
        Ok(_) => Err(format!("{THREADS_MAX} is the most; more threads than processors gain nothing")),
        Err(_) => Err(format!("give a whole number from 0, one for each processor, to {THREADS_MAX}")),
    }
}
