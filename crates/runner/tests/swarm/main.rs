//! A swarm: random networks with random faults, hundreds of them, each from its seed.
//!
//! Each seed switches each kind of fault on or off before it draws how strong it is (Groce et al., "Swarm
//! testing", 2012), so that some runs have one fault alone and some have all. While faults last, nothing wrong
//! may be delivered: safety. Then the network heals, and every flow must end: with every message delivered once
//! and in order, or with the reason why its association gave up: liveness.
//!
//! Most are networks on the ground. Some stand under a sky, whose handovers and gaps come to the faults.
//!
//! One seed alone, with its scenario printed:
//!
//!     SLANTPATH_SWARM_SEED=17 cargo test -p slantpath-scenario --test swarm -- --nocapture the_swarm
//!     SLANTPATH_SWARM_SEED=17 cargo test -p slantpath-scenario --test swarm -- --nocapture under_a_sky
//!
//! More of them than every test run needs:
//!
//!     SLANTPATH_SWARM_SEEDS=20000 cargo test --release -p slantpath-scenario --test swarm the_swarm

#![allow(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a panic must tell its seed, and a seed its scenario"
)]

mod case;
mod sky;

use std::collections::BTreeMap;
use std::path::Path;

use slantpath_results::{CellValue, Table};
use slantpath_runner::{RunOptions, RunOutput, Scenario, files_in, run};

const SEEDS: u64 = 300;
/// Contacts have to be worked out for each.
const SEEDS_UNDER_A_SKY: u64 = 80;
const VARIABLE: &str = "SLANTPATH_SWARM_SEED";
const COUNT_VARIABLE: &str = "SLANTPATH_SWARM_SEEDS";

/// The line that runs one seed again, of the test whose name begins so.
fn replay_command(test: &str, seed: u64) -> String {
    format!("{VARIABLE}={seed} cargo test -p slantpath-scenario --test swarm -- --nocapture {test}")
}

/// The seeds to run, and whether to show them.
fn seeds(one: Option<&str>, count: Option<&str>, usual: u64) -> (Vec<u64>, bool) {
    let number = |text: &str| text.parse().expect("a whole number");
    match one {
        Some(seed) => (vec![number(seed)], true),
        None => ((0..count.map_or(usual, number)).collect(), false),
    }
}

#[test]
fn the_swarm_delivers_every_message_once_and_in_order_or_says_why_not() {
    let (tally, shown) = swarm("the_swarm", SEEDS, &case::toml);
    if !shown {
        // A swarm in which nothing fails, or nothing gets through, tests nothing.
        assert!(tally.delivered > SEEDS, "{tally:?}");
        assert!(!tally.gave_up.is_empty(), "no association ever gave up: {tally:?}");
        assert!(tally.retransmitted > 10 * SEEDS, "hardly anything was lost: {tally:?}");
    }
}

/// Handovers and gaps are its faults as well.
#[test]
fn under_a_sky_every_message_is_delivered_once_and_in_order_or_it_is_said_why_not() {
    let (tally, shown) = swarm("under_a_sky", SEEDS_UNDER_A_SKY, &sky::toml);
    if !shown {
        assert!(tally.delivered > SEEDS_UNDER_A_SKY, "{tally:?}");
        assert!(tally.retransmitted > 10 * SEEDS_UNDER_A_SKY, "hardly anything was lost: {tally:?}");
    }
}

/// Runs the seeds of a test, and says whether they are shown.
fn swarm(test: &'static str, usual: u64, toml: &dyn Fn(u64) -> String) -> (Tally, bool) {
    let [one, count] = [VARIABLE, COUNT_VARIABLE].map(|name| std::env::var(name).ok());
    let (seeds, shown) = seeds(one.as_deref(), count.as_deref(), usual);
    let mut tally = Tally::default();
    for &seed in &seeds {
        let toml = toml(seed);
        if shown {
            println!("{toml}");
        }
        // A panic deep inside still tells the seed.
        let guard = Named(test, seed);
        let outcome = run_case(seed, &toml);
        match outcome.as_ref().map_err(Clone::clone).and_then(judge) {
            Ok(verdicts) => tally.add(&verdicts),
            Err(fault) => panic!("seed {seed}: {fault}\nreplay it: {}", replay_command(test, seed)),
        }
        drop(guard);
        if shown {
            println!("{:?}", outcome.map(|output| output.digest));
        }
    }
    println!("{} seeds: {tally:?}", seeds.len());
    (tally, shown)
}

/// Says how to replay a seed when the stack unwinds through it.
struct Named(&'static str, u64);

impl Drop for Named {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seed {} panicked; replay it: {}", self.1, replay_command(self.0, self.1));
        }
    }
}

fn run_case(seed: u64, toml: &str) -> Result<RunOutput, String> {
    let scenario = Scenario::parse("swarm", toml, &[], files_in(Path::new("nowhere")))
        .map_err(|faults| format!("the swarm drew a scenario that is wrong\n{faults}"))?;
    run(&scenario, &RunOptions::default()).map_err(|error| format!("{seed}: {error}"))
}

/// Outcome of a flow.
#[derive(Debug)]
enum Verdict {
    Delivered { retransmitted: u64 },
    GaveUp { reason: String },
}

#[derive(Debug, Default)]
struct Tally {
    delivered: u64,
    /// Number of flows that gave up for each reason.
    gave_up: BTreeMap<String, u64>,
    retransmitted: u64,
}

impl Tally {
    fn add(&mut self, verdicts: &[Verdict]) {
        for verdict in verdicts {
            match verdict {
                Verdict::Delivered { retransmitted } => {
                    self.delivered += 1;
                    self.retransmitted += retransmitted;
                }
                Verdict::GaveUp { reason } => *self.gave_up.entry(reason.clone()).or_default() += 1,
            }
        }
    }
}

fn judge(output: &RunOutput) -> Result<Vec<Verdict>, String> {
    let flows = output.table("flows").ok_or("there is no table of flows")?;
    (0..flows.rows()).map(|row| judge_flow(flows, row)).collect()
}

fn judge_flow(flows: &Table, row: usize) -> Result<Verdict, String> {
    let cell = |name: &str| flows.column(name).expect("a column of the table of flows").at(row);
    let count = |name: &str| match cell(name) {
        CellValue::U64(count) => count,
        other => panic!("{name} is {other:?}"),
    };
    let (sent, delivered) = (count("messages_sent"), count("messages_delivered"));
    let flow = format!("flow {:?}: {sent} sent, {delivered} delivered", cell("flow"));
    // Safety, whatever became of the flow.
    if count("messages_corrupt") > 0 {
        return Err(format!("{flow}: {} wrong", count("messages_corrupt")));
    }
    if count("messages_out_of_order") > 0 {
        return Err(format!("{flow}: {} repeated or out of order", count("messages_out_of_order")));
    }
    if delivered > sent {
        return Err(format!("{flow}: more than were sent"));
    }
    // Liveness: it is over, and it is whole or says why not.
    match (cell("failure"), cell("ended_s")) {
        (CellValue::Text(reason), _) if !reason.is_empty() => {
            Ok(Verdict::GaveUp { reason: reason.to_owned() })
        }
        (_, CellValue::Missing) => Err(format!("{flow}: it hangs")),
        _ if delivered + count("messages_abandoned") < sent => {
            Err(format!("{flow}: it ended well, but lost messages"))
        }
        _ => Ok(Verdict::Delivered { retransmitted: count("messages_retransmitted") }),
    }
}

#[test]
fn a_seed_draws_the_same_scenario_every_time_and_another_seed_another() {
    assert_eq!(case::toml(17), case::toml(17));
    assert_ne!(case::toml(17), case::toml(18));
    assert_eq!(sky::toml(17), sky::toml(17));
    assert_ne!(sky::toml(17), sky::toml(18));
}

#[test]
fn the_variable_names_one_seed() {
    assert_eq!(seeds(Some("17"), Some("5"), 300), (vec![17], true));
    assert_eq!(seeds(None, Some("5"), 300), (vec![0, 1, 2, 3, 4], false));
    assert_eq!(seeds(None, None, 300).0.len(), 300);
}

/// The printed command works: this very program, with the variable set, runs and shows that seed alone.
#[test]
fn the_command_that_replays_a_seed_replays_it() {
    let program = std::env::current_exe().expect("a test has a program");
    let output = std::process::Command::new(program)
        .args(["--nocapture", "the_swarm"])
        .env(VARIABLE, "17")
        .output()
        .expect("the program runs again");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(text.contains(&case::toml(17)), "{text}");
    assert!(text.contains("1 seeds: "), "{text}");
}
