//! The table of `docs/models/congestion-control.md`: every controller over one bottleneck, in a minute.

#[path = "../tests/bottleneck/controllers.rs"]
mod controllers;
#[path = "../tests/bottleneck/flow.rs"]
mod flow;
#[path = "../tests/bottleneck/model.rs"]
mod model;

use slantpath_base::{DataRate, Duration, Instant};
use slantpath_cc::CongestionControl;

use controllers::{backlog, bbr, bbr3, cubic, hybla, new_reno, westwood};
use model::{Change, Loss, PathSpec, Run, alone};

type Make = fn() -> Box<dyn CongestionControl>;

const CONTROLLERS: [(&str, Make); 7] = [
    ("NewReno", new_reno),
    ("CUBIC", cubic),
    ("Hybla", hybla),
    ("Westwood+", westwood),
    ("BBR", bbr),
    ("BBRv3", bbr3),
    ("Backlog", backlog),
];

fn seconds(run: &Run, from: u64, to: u64) -> String {
    (from..to)
        .map(|second| format!("{:.0}", run.goodput(0, second, second + 1)))
        .collect::<Vec<_>>()
        .join(" ")
}

#[expect(clippy::print_stdout, reason = "the result of a run by hand")]
fn main() {
    for (name, make) in CONTROLLERS {
        for (path, spec) in [("GEO", PathSpec::geo()), ("LEO", PathSpec::leo())] {
            let bursts = PathSpec { loss: Loss::Bursts { mean: 1e-2, packets: 10.0 }, ..spec };
            for (what, spec) in [
                ("loss 0", spec),
                ("loss 1e-3", spec.losing(1e-3)),
                ("loss 1e-2", spec.losing(1e-2)),
                ("bursts 1e-2", bursts),
                ("queue 0.1", spec.queue_percent(10)),
                ("queue 4", spec.queue_percent(400)),
            ] {
                let found = [1, 2, 3].map(|seed| alone(spec, seed, make()));
                let goodput = found.iter().map(|alone| alone.goodput).sum::<f64>() / 3.0;
                let lost = found.iter().map(|alone| alone.queue_losses).sum::<u64>() / 3;
                println!("{name} {path} {what}: {goodput:.1} %, ramp {:.1?}, lost {lost}", found[0].ramp);
            }
        }
        let at = Instant::from_secs;
        let handover = Run::new(PathSpec::new(20_000_000, 40), 1)
            .with_flow(at(0), make())
            .with_change(at(20), Change::RoundTrip(Duration::from_millis(120)))
            .with_change(at(30), Change::RoundTrip(Duration::from_millis(40)))
            .until(at(40));
        println!(
            "{name} handover: {}, lost {}",
            seconds(&handover, 18, 40),
            handover.accounts[0].queue_losses
        );
        let fade = Run::new(PathSpec::geo(), 1)
            .with_flow(at(0), make())
            .with_change(at(30), Change::Fade(true))
            .with_change(at(33), Change::Fade(false))
            .until(at(50));
        println!("{name} fade: {}, lost {}", seconds(&fade, 28, 50), fade.accounts[0].queue_losses);
        let rates = Run::new(PathSpec::geo(), 1)
            .with_flow(at(0), make())
            .with_change(at(30), Change::Rate(DataRate::from_bits_per_sec(20_000_000)))
            .with_change(at(60), Change::Rate(DataRate::from_bits_per_sec(10_000_000)))
            .until(at(80));
        println!("{name} rates: {}, lost {}", seconds(&rates, 28, 80), rates.accounts[0].queue_losses);
        for flows in [2, 5, 20] {
            let run = (0..flows).fold(Run::new(PathSpec::leo(), 1), |run, flow| {
                run.with_flow(Instant::from_millis(300 * flow), make())
            });
            let run = run.until(at(60));
            let shares: Vec<_> = (0..run.accounts.len()).map(|flow| run.goodput(flow, 30, 60)).collect();
            let lost: u64 = run.accounts.iter().map(|account| account.queue_losses).sum();
            println!("{name} {flows} flows: {shares:.1?}, lost {lost}, queue {:.0} %", run.mean_queue());
        }
        let run = Run::new(PathSpec::leo(), 1)
            .with_flow(at(0), make())
            .with_flow(at(2), make())
            .with_flow(at(10), cubic())
            .with_end(2, at(60))
            .until(at(120));
        let shares =
            [(20, 60), (70, 120)].map(|(from, to)| [0, 1, 2].map(|flow| run.goodput(flow, from, to)));
        println!("{name}, two of it, beside CUBIC, which leaves: {shares:.1?}");
        for (other, of) in CONTROLLERS.iter().take(2) {
            for percent in [100, 10] {
                let run = Run::new(PathSpec::leo().queue_percent(percent), 1)
                    .with_flow(at(0), of())
                    .with_flow(at(10), make())
                    .until(at(120));
                let [theirs, own] = [0, 1].map(|flow| run.goodput(flow, 30, 120));
                let lost: u64 = run.accounts.iter().map(|account| account.queue_losses).sum();
                println!("{name} beside {other}, queue {percent} %: {theirs:.1} and {own:.1}, lost {lost}");
            }
        }
    }
}
