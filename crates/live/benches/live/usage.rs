//! Use of the machine by a process, between two marks.

use std::process::Command;

use slantpath_live::LiveCounters;

/// A point in a process's life.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    at: f64,
    user: f64,
    system: f64,
    calls: u64,
    packets: u64,
}

impl Mark {
    pub(crate) fn now(counters: &LiveCounters) -> Self {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let usage = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_SELF).unwrap();
        let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 * 1e-6;
        Self {
            at: time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9,
            user: seconds(usage.user_time()),
            system: seconds(usage.system_time()),
            calls: counters.receive_calls + counters.send_calls + counters.wait_calls,
            packets: counters.packets_sent,
        }
    }

    /// Prints what has been used since.
    pub(crate) fn report(self, messages: u64, counters: &LiveCounters) {
        let Self { at, user, system, calls, packets } = Self::now(counters);
        println!(
            "{{\"messages\":{messages},\"seconds\":{:.6},\"user\":{:.6},\"system\":{:.6},\"calls\":{},\
             \"packets\":{}}}",
            at - self.at,
            user - self.user,
            system - self.system,
            calls - self.calls,
            packets - self.packets
        );
    }
}

/// Usage that an end has reported.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    pub(crate) messages: f64,
    pub(crate) seconds: f64,
    pub(crate) user: f64,
    pub(crate) system: f64,
    /// Calls of the system, where they are counted.
    pub(crate) calls: Option<f64>,
    /// Packets sent, where they are counted.
    pub(crate) packets: Option<f64>,
}

impl Usage {
    pub(crate) fn read(line: &str) -> Self {
        let value: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line:?}"));
        let number = |name: &str| value[name].as_f64();
        let needed = |name: &str| number(name).unwrap_or_else(|| panic!("no `{name}` in {line}"));
        Self {
            messages: needed("messages"),
            seconds: needed("seconds"),
            user: needed("user"),
            system: needed("system"),
            calls: number("calls"),
            packets: number("packets"),
        }
    }

    /// CPU time of a message in microseconds.
    pub(crate) fn micros(&self) -> f64 {
        (self.user + self.system) / self.messages * 1e6
    }

    pub(crate) fn system_micros(&self) -> f64 {
        self.system / self.messages * 1e6
    }
}

/// Runs a program to its end, which it comes to in order.
pub(crate) fn run(program: &str, words: &[&str]) {
    let output = Command::new(program).args(words).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {}: {}", words.join(" "), said.trim());
}
