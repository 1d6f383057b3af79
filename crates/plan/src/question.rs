//! Question of an engineer: a file of TOML, or the same by `path=value`.

use std::net::IpAddr;

use slantpath_base::{DataRate, DataSize, Duration, Probability};
use slantpath_reader::{
    AtMost, Diagnostic, Diagnostics, Document, Fault, Faults, FileKind, MergedOutput, Part, Section, Setting,
    WriteFields, choice, json_schema as json_schema_of, print_json, section,
};

use crate::framing::Framed;

const DAY: AtMost<Duration> =
    AtMost::new(Duration::from_secs(86_400), "no path and no timer of signalling lasts a day");
const RATE: AtMost<DataRate> =
    AtMost::new(DataRate::from_bits_per_sec(1_000_000_000_000), "signalling takes no terabit a second");
const LINKS: AtMost<u32> = AtMost::new(1_000_000, "no gateway has more lines");
const ERLANG: AtMost<f64> = AtMost::new(1.0, "a line is full at 1");
const OCTETS: AtMost<u32> =
    AtMost::new(LONGEST_OF_SCTP, "a packet of 1500 octets holds no more of a message");
const RATE_OF_MESSAGES: AtMost<f64> = AtMost::new(10_000_000.0, "no gateway has more messages in a second");
const ASSOCIATIONS: AtMost<u32> = AtMost::new(16, "a link set has no more links");
const OVERHEAD: AtMost<f64> = AtMost::new(20.0, "headers of 12 octets are no more than that");
const MESSAGES: AtMost<u32> = AtMost::new(10_000_000, "so many wait for hours");
const NAME: AtMost<u32> = AtMost::new(u32::MAX, "it is a name of 32 bits");
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
        /// The longest fade, or other break of the path, that an association has to outlive, such as the change of a
        /// modem.
        fade: Option<Setting<Duration>>, at most DAY;
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

choice! {
    /// Carrier of the messages over SCTP.
    pub enum MessageCarrier {
        /// Links of MTP3 over associations: M2PA (RFC 4165).
        M2pa = "m2pa",
        /// A signalling gateway and application server processes: M3UA (RFC 4666).
        M3ua = "m3ua",
        /// SCTP alone: messages of an application, each direction over associations of its own.
        Sctp = "sctp",
    }
}

section! {
    /// Signalling that is to be carried.
    pub struct CarriedSignalling {
        /// Carrier of the messages.
        carrier: Setting<MessageCarrier> = MessageCarrier::M2pa;
        /// Number of signalling links.
        links: Setting<u32> = 30, at most LINKS;
        /// The share of each link's time that its messages take. Give this or `messages_per_second`.
        erlang_per_link: Option<Setting<f64>>, at most ERLANG;
        /// The largest step by which that grows at once.
        step_erlang: Setting<f64> = 0.0, at most ERLANG;
        /// Messages a second in each direction, in place of `erlang_per_link`.
        messages_per_second: Option<Setting<f64>>, at most RATE_OF_MESSAGES;
        /// The largest step by which those grow at once.
        step_messages_per_second: Setting<f64> = 0.0, at most RATE_OF_MESSAGES;
        /// The rate of a signalling link.
        line_rate: Setting<DataRate> = DataRate::from_bits_per_sec(64_000), at most RATE;
        /// Octets of a message: of M2PA and M3UA on a link, flag and check bits included; of SCTP alone as it is handed
        /// over.
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
        /// Messages of M2PA that may wait above SCTP.
        queue: Option<Setting<u32>>, at most MESSAGES;
        /// A window that is set already: the answer says what it does.
        cwnd: Option<Setting<DataSize>>, at most WINDOW;
        /// RTO.Max that is set already.
        rto_max: Option<Setting<Duration>>, at most DAY;
    }
}

section! {
    /// Addresses and names of the gateway whose configuration is written, and of its peer.
    pub struct GatewayNames {
        /// Own addresses, one for each path.
        addresses: Setting<Vec<IpAddr>> = Vec::new();
        /// Addresses of the peer, one for each path.
        peer_addresses: Setting<Vec<IpAddr>> = Vec::new();
        /// The SCTP port of both.
        port: Setting<u16> = M3UA_PORT;
        /// Own point code, as the equipment writes it: `1.2.3`.
        point_code: Option<Setting<String>>;
        /// Point code that is reached through the peer.
        peer_point_code: Option<Setting<String>>;
        /// Routing context of M3UA.
        routing_context: Option<Setting<u32>>, at most NAME;
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
        /// Names of the gateway, for forms that configure one.
        gateway: Part<GatewayNames>;
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

    /// Reads a string as [`Question::parse`] does, and gives what of it is probably a mistake as well.
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
            check_octets(load, faults);
            check_load(load, faults);
            if let Some(limits) = self.limits.whole()
                && let Some(queue) = limits.queue
                && *load.carrier != MessageCarrier::M2pa
            {
                let fault =
                    Fault::new(format!("{} keeps no queue above SCTP that can be set", load.carrier_name()));
                faults.report(queue.place(), fault.help("leave `queue` out, or let `carrier` be \"m2pa\""));
            }
        }
        if let Some(gateway) = self.gateway.whole() {
            for code in [&gateway.point_code, &gateway.peer_point_code].into_iter().flatten() {
                check_point_code(code, faults);
            }
            if *gateway.port == 0 {
                let fault = Fault::new("nothing listens at port 0");
                faults.report(gateway.port.place(), fault.help("M3UA has 2905"));
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

/// Checks the length of a message, which depends on its carrier.
fn check_octets(load: &CarriedSignalling, faults: &mut Faults) {
    let octets = *load.octets;
    let is_signalling = *load.carrier != MessageCarrier::Sctp;
    if is_signalling && octets < SHORTEST {
        let fault = Fault::new(format!("a message of {octets} octets has no label"));
        let help = "with level 2 it has 12 at least; 60 to 270 are usual";
        faults.report(load.octets.place(), fault.help(help));
    } else if is_signalling && octets > LONGEST_ON_A_LINK {
        let message = format!("{octets} is too large: level 2 takes 273 octets and adds 6");
        let help = format!("write {LONGEST_ON_A_LINK} or less, or let `carrier` be \"sctp\"");
        faults.report(load.octets.place(), Fault::new(message).help(help));
    } else if octets == 0 {
        let fault = Fault::new("SCTP carries no message of nothing").help("write 1 or more");
        faults.report(load.octets.place(), fault);
    }
}

/// Checks that the load is told once, and that lines can have it.
fn check_load(load: &CarriedSignalling, faults: &mut Faults) {
    match (&load.erlang_per_link, &load.messages_per_second) {
        (None, None) => {
            let fault = Fault::new("nothing says how many messages there are");
            let help = "write `erlang_per_link`, 0.2 is usual, or `messages_per_second`";
            faults.report(load.octets.place(), fault.help(help));
        }
        (Some(_), Some(messages)) => {
            let fault = Fault::new("`erlang_per_link` says the load already");
            let help = "keep one of `erlang_per_link` and `messages_per_second`";
            faults.report(messages.place(), fault.help(help));
        }
        (Some(erlang), None) if *load.carrier == MessageCarrier::Sctp => {
            let fault = Fault::new("SCTP alone has no signalling links whose time is shared");
            faults.report(erlang.place(), fault.help("write `messages_per_second` in its place"));
        }
        (Some(erlang), None) => {
            if *load.step_messages_per_second != 0.0 {
                let fault = Fault::new("the load is told in Erlang, and its step is not");
                faults.report(load.step_messages_per_second.place(), fault.help("write `step_erlang`"));
            }
            if **erlang <= 0.0 || *load.step_erlang < 0.0 {
                let fault = Fault::new("a load is more than nothing, and a step no less");
                faults.report(erlang.place(), fault.help("0.2 Erlang a link is usual"));
            } else if **erlang + *load.step_erlang > 1.0 {
                let full = **erlang + *load.step_erlang;
                let fault =
                    Fault::new(format!("after the step a link carries {full:.2} Erlang: the lines cannot"));
                faults.report(erlang.place(), fault.help("a line is full at 1: let there be more `links`"));
            }
        }
        (None, Some(messages)) => {
            if *load.step_erlang != 0.0 {
                let fault = Fault::new("the load is told in messages a second, and its step is not");
                faults.report(load.step_erlang.place(), fault.help("write `step_messages_per_second`"));
            }
            if *load.carrier == MessageCarrier::Sctp && *load.step_messages_per_second > 0.0 {
                let fault = Fault::new("SCTP alone is planned for a load that does not step");
                let help = "write the load after the step as `messages_per_second`";
                faults.report(load.step_messages_per_second.place(), fault.help(help));
            }
            if **messages <= 0.0 || *load.step_messages_per_second < 0.0 {
                let fault = Fault::new("a load is more than nothing, and a step no less");
                faults.report(
                    messages.place(),
                    fault.help("a link of 64 kbit/s at 0.2 Erlang has 13 of 120 octets"),
                );
            }
        }
    }
}

/// Checks that a point code can stand in a line of a configuration: digits, and dots or dashes between them.
fn check_point_code(code: &Setting<String>, faults: &mut Faults) {
    let is_number =
        |part: &str| !part.is_empty() && part.len() <= 5 && part.bytes().all(|byte| byte.is_ascii_digit());
    if !code.split(['.', '-']).all(is_number) || code.split(['.', '-']).count() > 3 {
        let fault = Fault::new("this is no point code");
        faults.report(code.place(), fault.help("write it like `1.2.3`, or as one number"));
    }
}

/// Lines that carry a load: as they were told, or, of messages a second, so fast that the band is full before they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines {
    pub(crate) count: u32,
    pub(crate) rate: u64,
    pub(crate) erlang: f64,
    pub(crate) step: f64,
}

impl CarriedSignalling {
    /// The lines and their load, with a band of so many bits a second.
    pub(crate) fn lines(&self, band: u64) -> Lines {
        let count = *self.links;
        let Some(messages) = self.messages_per_second else {
            let erlang = self.erlang_per_link.map_or(0.0, |erlang| *erlang);
            return Lines { count, rate: self.line_rate.as_bits_per_sec(), erlang, step: *self.step_erlang };
        };
        let bits = 8.0 * f64::from(*self.octets);
        let most = (bits * (*messages + *self.step_messages_per_second)).max(band as f64);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
        let rate = (2.0 * most / f64::from(count)).ceil().max(1.0) as u64;
        let of = |messages: f64| messages * bits / (rate as f64 * f64::from(count));
        Lines { count, rate, erlang: of(*messages), step: of(*self.step_messages_per_second) }
    }

    /// Name of the carrier, as people write it.
    pub(crate) fn carrier_name(&self) -> &'static str {
        match *self.carrier {
            MessageCarrier::M2pa => "M2PA",
            MessageCarrier::M3ua => "M3UA",
            MessageCarrier::Sctp => "SCTP alone",
        }
    }

    /// Octets of a DATA chunk of a message, and of an acknowledgement of the carrier's own.
    pub(crate) fn frame(&self) -> Framed {
        Framed::of(*self.carrier, *self.octets)
    }
}

impl Question {
    /// Gives the question as a file with every default in place.
    pub fn merged(&self) -> String {
        let mut merged = MergedOutput::default();
        self.write_fields(&mut merged);
        merged.print(false)
    }

    /// The lines that carry its load.
    pub(crate) fn lines(&self) -> Lines {
        let part = "a question without fault is whole";
        let band = self.band.whole().expect(part);
        let total = band.permanent.as_bits_per_sec().saturating_add(band.on_demand.as_bits_per_sec());
        self.signalling.whole().expect(part).lines(total)
    }
}

/// JSON Schema (2020-12) of a question's file, made from the declarations that read it.
pub fn json_schema() -> String {
    print_json(&json_schema_of::<Question>("Slantpath plan"))
}

/// Service information and label, and what level 2 adds.
const SHORTEST: u32 = 12;

/// Octets of the longest message on a link, with what level 2 adds.
const LONGEST_ON_A_LINK: u32 = 279;

/// Octets of the longest message that a packet of 1500 octets holds, behind the headers of IP, SCTP and DATA.
const LONGEST_OF_SCTP: u32 = 1_452;

/// The port of M3UA (RFC 4666, section 1.4.8).
const M3UA_PORT: u16 = 2905;
