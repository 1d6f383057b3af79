//! Dumbbells of greedy flows: packet-hops per CPU second of a simulator.
//!
//! The case is read as `peers/ns2/README.md` says, by us and by ns.

pub mod ns2;
pub mod slantpath;

use slantpath_cc::Algorithm;

/// Protocol of the flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// SCTP, single-homed.
    Sctp,
    /// TCP with SACK.
    Tcp,
}

impl Protocol {
    /// As in names of cases and on ns's command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sctp => "sctp",
            Self::Tcp => "tcp",
        }
    }
}

/// Method that finds losses, and controller of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Governed {
    /// As the RFCs have it: by duplicates, and by RFC 5681 or RFC 9260.
    ByTheRfcs,
    /// By time, and by this controller. TCP's segments are acknowledged two by two.
    ByTime(Algorithm),
}

/// Dumbbell of a benchmark.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Protocol of all flows.
    pub protocol: Protocol,
    /// Loss detection and controller of their windows.
    pub governed: Governed,
    /// Number of flows.
    pub flows: usize,
    /// One-way propagation from end to end, in milliseconds.
    pub delay_ms: u32,
    /// Simulated seconds.
    pub seconds: u32,
}

impl Case {
    /// The cases that `make bench` runs.
    pub fn all() -> Vec<Self> {
        let flows = [(Protocol::Tcp, 10), (Protocol::Tcp, 100), (Protocol::Sctp, 10)];
        let with_delays = |(protocol, flows)| {
            [20, 250].map(|delay_ms| Self {
                protocol,
                governed: Governed::ByTheRfcs,
                flows,
                delay_ms,
                seconds: 60,
            })
        };
        flows.into_iter().flat_map(with_delays).collect()
    }

    /// As the table names it.
    pub fn title(&self) -> String {
        let protocol = match self.protocol {
            Protocol::Sctp => "SCTP associations",
            Protocol::Tcp => "TCP flows",
        };
        format!("{} {protocol}, {} ms", self.flows, self.delay_ms)
    }
}
