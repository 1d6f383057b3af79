//! Question of an engineer: a file of TOML, or the same by `path=value`.

use slantpath_base::{DataRate, DataSize, Duration, Probability};
use slantpath_reader::{
    AtMost, Diagnostic, Diagnostics, Document, Fault, Faults, FileKind, Part, Section, Setting,
    json_schema as json_schema_of, print_json, section,
};

const DAY: AtMost<Duration> =
    AtMost::new(Duration::from_secs(86_400), "no path and no timer of signalling lasts a day");
const RATE: AtMost<DataRate> =
    AtMost::new(DataRate::from_bits_per_sec(1_000_000_000_000), "signalling takes no terabit a second");
const LINKS: AtMost<u32> = AtMost::new(1_000_000, "no gateway has more lines");
const ERLANG: AtMost<f64> = AtMost::new(1.0, "a line is full at 1");
const OCTETS: AtMost<u32> = AtMost::new(279, "level 2 takes 273 octets and adds 6");
const ASSOCIATIONS: AtMost<u32> = AtMost::new(16, "a link set has no more links");
const OVERHEAD: AtMost<f64> = AtMost::new(20.0, "headers of 12 octets are no more than that");
const MESSAGES: AtMost<u32> = AtMost::new(10_000_000, "so many wait for hours");
const WINDOW: AtMost<DataSize> = AtMost::new(DataSize::from_bytes(u32::MAX as u64), "a_rwnd has 32 bits");

section! {
    /// The path between two gateways.
    pub struct GatewayPath {
        /// From a packet to its acknowledgement, with nothing waiting. Over a geostationary satellite 560 to 680 ms.
        round_trip: Setting<Duration>, at most DAY;
        /// The share of packets that it loses.
        loss: Setting<Probability> = Probability::NEVER;
        /// The round trip of another path that an association can turn to.
        backup_round_trip: Option<Setting<Duration>>, at most DAY;
    }
}

section! {
    /// Rates at which a terminal may send, in bits of Ethernet.
    pub struct Band {
        /// For good (PAMA, CRA), or the rate of a fixed link.
        permanent: Setting<DataRate>, at most RATE;
        /// Beyond that, when it has been asked for (DAMA).
        on_demand: Setting<DataRate> = DataRate::from_bits_per_sec(0), at most RATE;
        /// T_ALL: from a step of the load until there is capacity for it.
        allocation_time: Setting<Duration> = Duration::ZERO, at most DAY;
        /// Time for which nothing is sent while an allocation changes.
        interruption: Setting<Duration> = Duration::ZERO, at most DAY;
    }
}

section! {
    /// Signalling that is to be carried.
    pub struct CarriedSignalling {
        /// Number of signalling links.
        links: Setting<u32> = 30, at most LINKS;
        /// The share of each link's time that its messages take.
        erlang_per_link: Setting<f64>, at most ERLANG;
        /// The largest step by which that grows at once.
        step_erlang: Setting<f64> = 0.0, at most ERLANG;
        /// The rate of a signalling link.
        line_rate: Setting<DataRate> = DataRate::from_bits_per_sec(64_000), at most RATE;
        /// Octets of a message on a link, flag and check bits included.
        octets: Setting<u32>, at most OCTETS;
        /// α: octets of Ethernet beyond each octet of a message, where that was measured. The window then counts octets
        /// of messages, as the paper has it. Counted from the headers if absent.
        overhead: Option<Setting<f64>>, at most OVERHEAD;
        /// Associations that the messages are spread over.
        associations: Setting<u32> = 1, at most ASSOCIATIONS;
        /// Time for which the first message of a packet waits for others.
        bundling_delay: Setting<Duration> = Duration::ZERO, at most DAY;
        /// Time that each gateway takes to process a message.
        gateway_delay: Setting<Duration> = Duration::from_millis(30), at most DAY;
    }
}

section! {
    /// Demands, and limits of the equipment.
    pub struct Limits {
        /// Time for which traffic may stand still when a path fails: 800 ms is ITU-T's changeover (Q.706).
        failover: Option<Setting<Duration>>, at most DAY;
        /// Messages that may wait above SCTP.
        queue: Option<Setting<u32>>, at most MESSAGES;
        /// A window that is set already: the answer says what it does.
        cwnd: Option<Setting<DataSize>>, at most WINDOW;
        /// RTO.Max that is set already.
        rto_max: Option<Setting<Duration>>, at most DAY;
    }
}

section! {
    /// Knowledge of an engineer about a path and about what is to cross it.
    pub struct Question {
        /// Path between the gateways.
        path: Part<GatewayPath>;
        /// Band of the terminal.
        band: Part<Band>;
        /// Load of signalling.
        signalling: Part<CarriedSignalling>;
        /// Demands that must be met, and limits of the equipment.
        limits: Part<Limits>;
    }
}

impl Question {
    /// Reads a string; `sets` are laid over it as `path=value`.
    ///
    /// # Errors
    /// Everything that is wrong, each with its place and its cure.
    pub fn parse(name: &str, text: &str, sets: &[String]) -> Result<Self, Diagnostics> {
        Self::read(name, text, sets).map(|(question, _)| question)
    }

    /// Reads a string as [`Question::parse`] does, and gives what of it is hardly meant as well.
    ///
    /// # Errors
    /// Those of [`Question::parse`].
    pub fn read(name: &str, text: &str, sets: &[String]) -> Result<(Self, Vec<Diagnostic>), Diagnostics> {
        let mut document = Document::parse(name, text);
        for set in sets {
            document.set("--set", set);
        }
        let (entries, mut faults) = document.entries_of(FileKind::Plan)?;
        let read = Self::read_root(&entries, FileKind::Plan.words(), &mut faults);
        if let Some((question, _)) = &read {
            question.check(&mut faults);
        }
        let warnings = faults.warnings();
        Ok((faults.whole(read)?.0, warnings))
    }

    fn check(&self, faults: &mut Faults) {
        if let Some(path) = self.path.whole()
            && path.round_trip.is_zero()
        {
            let fault = Fault::new("a round trip of nothing leaves nothing to plan");
            faults.report(
                path.round_trip.place(),
                fault.help("over a geostationary satellite it is 560 to 680 ms"),
            );
        }
        if let Some(band) = self.band.whole() {
            self.check_band(band, faults);
        }
        if let Some(load) = self.signalling.whole() {
            for (count, what) in [(&load.links, "links"), (&load.associations, "associations")] {
                if **count == 0 {
                    let fault = Fault::new(format!("with no {what} nothing is carried"));
                    faults.report(count.place(), fault.help("write 1 or more"));
                }
            }
            if *load.octets < SHORTEST {
                let fault = Fault::new(format!("a message of {} octets has no label", *load.octets));
                faults.report(
                    load.octets.place(),
                    fault.help("with level 2 it has 12 at least; 60 to 270 are usual"),
                );
            }
            if *load.erlang_per_link <= 0.0 || *load.step_erlang < 0.0 {
                let fault = Fault::new("a load is more than nothing, and a step no less");
                faults.report(load.erlang_per_link.place(), fault.help("0.2 Erlang a link is usual"));
            } else if *load.erlang_per_link + *load.step_erlang > 1.0 {
                let full = *load.erlang_per_link + *load.step_erlang;
                let fault =
                    Fault::new(format!("after the step a link carries {full:.2} Erlang: the lines cannot"));
                faults.report(
                    load.erlang_per_link.place(),
                    fault.help("a line is full at 1: let there be more `links`"),
                );
            }
        }
    }

    fn check_band(&self, band: &Band, faults: &mut Faults) {
        if band.permanent.as_bits_per_sec() == 0 {
            let fault = Fault::new("with nothing permanent the first message waits for an allocation");
            faults.report(band.permanent.place(), fault.help("let 64 kbit/s at least be permanent"));
        }
        let is_on_demand = band.on_demand.as_bits_per_sec() > 0;
        if is_on_demand && band.allocation_time.is_zero() {
            let fault = Fault::new("capacity on demand takes time: the answer depends on it");
            faults.report(
                band.on_demand.place(),
                fault.help("write `allocation_time`; 0.7 to 2 s are usual over a satellite"),
            );
        }
        if let Some(path) = self.path.whole()
            && is_on_demand
            && !band.allocation_time.is_zero()
            && *band.allocation_time < *path.round_trip
        {
            let message = format!(
                "an allocation within {} is faster than its request and its answer, which take a round trip of {}",
                *band.allocation_time, *path.round_trip
            );
            faults.warn(
                band.allocation_time.place(),
                Fault::new(message).help("0.7 to 2 s are usual over a satellite"),
            );
        }
    }
}

/// JSON Schema (2020-12) of a question's file, made from the declarations that read it.
pub fn json_schema() -> String {
    print_json(&json_schema_of::<Question>("Slantpath plan"))
}

/// Service information and label, and what level 2 adds.
const SHORTEST: u32 = 12;
