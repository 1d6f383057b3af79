//! What a controller alone on a path reaches, and the table of all of them.

use slantpath_base::{DataRate, Duration, Instant};
use slantpath_cc::CongestionControl;

use crate::backlog::backlog;
use crate::loss_based::{cubic, new_reno};
use crate::model::{Change, Loss, PathSpec, Run};
use crate::rate_based::{bbr, bbr3, hybla};

#[derive(Debug)]
pub(crate) struct Alone {
    /// From 20 to 120 s, in per cent of the link; payload can have 96.8.
    pub(crate) goodput: f64,
    /// Round trips to nine tenths of that.
    pub(crate) ramp: Option<f64>,
    pub(crate) queue_losses: u64,
}

pub(crate) fn alone(spec: PathSpec, seed: u64, control: Box<dyn CongestionControl>) -> Alone {
    let run = Run::new(spec, seed).with_flow(Instant::START, control).until(Instant::from_secs(120));
    Alone { goodput: run.goodput(0, 20, 120), ramp: run.ramp(0), queue_losses: run.accounts[0].queue_losses }
}

type Make = fn() -> Box<dyn CongestionControl>;

const CONTROLLERS: [(&str, Make); 6] = [
    ("NewReno", || Box::new(new_reno())),
    ("CUBIC", || Box::new(cubic())),
    ("Hybla", hybla),
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

/// `cargo test -p slantpath-cc --test bottleneck table -- --ignored --nocapture`
#[test]
#[ignore = "prints the table for docs/models/congestion-control.md"]
fn table() {
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
