//! `conditioners` of a link: how packets are classified, metered, and marked or dropped before they queue.

use core::fmt;

use slantpath_base::{DataRate, DataSize, Duration};
use slantpath_net::{ColourMode, MeterConfig, MeterScope};
use slantpath_profiles::fault;
use slantpath_reader::{
    Fault, Faults, Flat, Json, KeyValue, OneOf, Setting, ValueNode, json, policy, section, tagged,
};

use crate::bounds::{BURST, DELAY, RATE};
use crate::network::node::NamedDscp;

section! {
    /// A rule of traffic conditioning (RFC 2475): which packets fall under it, how they are metered, and what is done
    /// with them before they queue. Of several rules a packet falls under the first, in alphabetical order, that holds
    /// for it.
    pub struct Conditioner {
        /// Hosts from which its packets come. Any if absent.
        from: Option<Setting<Vec<String>>>;
        /// Hosts to which they go. Any if absent.
        to: Option<Setting<Vec<String>>>;
        /// Flows to which they belong, either way. Any if absent.
        flows: Option<Setting<Vec<String>>>;
        /// Codepoints with which they come. Any if absent.
        dscp: Option<Setting<Vec<NamedDscp>>>;
        /// Meter of these packets. All are green if absent.
        meter: Option<OneOf<Meter>>;
        /// Packets that are metered together. `aggregate` if absent.
        per: Option<Setting<RuleScope>>;
        /// Treatment of green packets: a DSCP that they get, or `drop`. Nothing if absent.
        green: Option<Setting<Treatment>>;
        /// Treatment of yellow packets. Nothing if absent.
        yellow: Option<Setting<Treatment>>;
        /// Treatment of red packets. Nothing if absent.
        red: Option<Setting<Treatment>>;
    }
}

tagged! {
    /// Meter of packets. Lengths are those of IP packets.
    pub enum Meter {
        /// Two buckets of tokens that one rate fills, the second with what the first has no room for (RFC 2697).
        SrTcm = "sr-tcm",
        /// Two buckets of tokens, each with a rate of its own (RFC 2698).
        TrTcm = "tr-tcm",
        /// The part of the average rate that is beyond the committed one is red, spread over packets at random (Clark
        /// and Fang, 1998; ns-2's TSW2CM).
        Tsw2cm = "tsw-2cm",
        /// The parts of the average rate that are beyond the committed and the peak rate are yellow and red, spread
        /// over packets at random (RFC 2859; ns-2's TSW3CM).
        TswTcm = "tsw-tcm",
    }
}

section! {
    /// The single rate three colour marker.
    pub struct SrTcm {
        /// CIR: the rate that fills both buckets.
        committed_rate: Setting<DataRate>, at most RATE;
        /// CBS: what the bucket of green tokens holds.
        committed_burst: Setting<DataSize>, at most BURST;
        /// EBS: what the bucket of yellow tokens holds. With nothing, this is a bucket of tokens with two colours.
        excess_burst: Setting<DataSize> = DataSize::from_bytes(0), at most BURST;
        /// Use that is made of the colours that packets come with.
        mode: Setting<Mode> = Mode::of(ColourMode::Blind);
    }
}

section! {
    /// The two rate three colour marker.
    pub struct TrTcm {
        /// CIR: the rate that fills the bucket of green tokens.
        committed_rate: Setting<DataRate>, at most RATE;
        /// CBS: what that bucket holds.
        committed_burst: Setting<DataSize>, at most BURST;
        /// PIR: the rate that fills the bucket of all packets that are not red.
        peak_rate: Setting<DataRate>, at most RATE;
        /// PBS: what that bucket holds.
        peak_burst: Setting<DataSize>, at most BURST;
        /// Use that is made of the colours that packets come with.
        mode: Setting<Mode> = Mode::of(ColourMode::Blind);
    }
}

section! {
    /// The time sliding window marker with two colours.
    pub struct Tsw2cm {
        /// Committed rate and window.
        window: Flat<Window>;
    }
}

section! {
    /// The time sliding window marker with three colours.
    pub struct TswTcm {
        /// Committed rate and window.
        window: Flat<Window>;
        /// PTR: the rate beyond which packets are red.
        peak_rate: Setting<DataRate>, at most RATE;
    }
}

section! {
    /// Of the average rate of a time sliding window.
    pub struct Window {
        /// CTR: the rate up to which packets are green.
        committed_rate: Setting<DataRate>, at most RATE;
        /// AVG_INTERVAL: the time over which the rate is averaged.
        window: Setting<Duration> = Duration::from_secs(1), at most DELAY;
    }
}

policy! {
    /// Packets under a rule that are metered together.
    pub struct RuleScope of MeterScope {
        /// All of them.
        Aggregate = "aggregate",
        /// Packets of one flow: of the same addresses, protocol and ports.
        Flow = "flow",
        /// Packets from one address to one other.
        Pair = "pair",
    }
}

policy! {
    /// Use that is made of the colours that packets come with.
    pub struct Mode of ColourMode {
        /// A packet gets no better colour than the drop precedence of its AF codepoint says.
        Aware = "colour-aware",
        /// They do not count.
        Blind = "colour-blind",
    }
}

/// Treatment of packets of a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// They are dropped.
    Drop,
    /// They get this codepoint.
    Mark(NamedDscp),
}

impl fmt::Display for Treatment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Drop => f.write_str("drop"),
            Self::Mark(dscp) => dscp.fmt(f),
        }
    }
}

impl KeyValue for Treatment {
    type Most = ();

    fn read(node: &ValueNode) -> Result<Self, Fault> {
        match String::read(node)?.as_str() {
            "drop" => Ok(Self::Drop),
            text => text.parse().map(Self::Mark).map_err(|()| {
                let help =
                    "write \"drop\", or a DSCP: \"EF\", one of \"CS0\" to \"CS7\" or of \"AF11\" to \"AF43\"";
                Fault::new(format!("`{text}` is nothing that can be done with a packet")).help(help)
            }),
        }
    }

    fn write(&self) -> String {
        format!("\"{self}\"")
    }

    fn schema() -> Json {
        let pattern = "^(drop|EF|CS[0-7]|AF[1-4][1-3])$";
        json!({ "type": "string", "pattern": pattern, "examples": ["drop", "AF12"] })
    }
}

impl Meter {
    pub(super) fn check(&self, mtu: DataSize, faults: &mut Faults) {
        match self {
            Self::SrTcm(meter) => {
                positive(&meter.committed_rate, "committed_rate", faults);
                burst(&meter.committed_burst, "committed_burst", mtu, faults);
                if meter.excess_burst.as_bytes() > 0 {
                    burst(&meter.excess_burst, "excess_burst", mtu, faults);
                }
            }
            Self::TrTcm(meter) => {
                positive(&meter.committed_rate, "committed_rate", faults);
                burst(&meter.committed_burst, "committed_burst", mtu, faults);
                burst(&meter.peak_burst, "peak_burst", mtu, faults);
                peak(&meter.committed_rate, &meter.peak_rate, faults);
            }
            Self::Tsw2cm(meter) => meter.window.check(faults),
            Self::TswTcm(meter) => {
                meter.window.check(faults);
                peak(&meter.window.committed_rate, &meter.peak_rate, faults);
            }
        }
    }

    pub(super) fn config(&self) -> MeterConfig {
        match self {
            Self::SrTcm(meter) => MeterConfig::SingleRate {
                committed: *meter.committed_rate,
                committed_burst: *meter.committed_burst,
                excess_burst: *meter.excess_burst,
                mode: meter.mode.policy(),
            },
            Self::TrTcm(meter) => MeterConfig::TwoRate {
                committed: *meter.committed_rate,
                committed_burst: *meter.committed_burst,
                peak: *meter.peak_rate,
                peak_burst: *meter.peak_burst,
                mode: meter.mode.policy(),
            },
            Self::Tsw2cm(meter) => meter.window.config(*meter.window.committed_rate),
            Self::TswTcm(meter) => meter.window.config(*meter.peak_rate),
        }
    }
}

impl Window {
    fn check(&self, faults: &mut Faults) {
        positive(&self.committed_rate, "committed_rate", faults);
        fault::positive(&self.window, "`window`", faults);
    }

    fn config(&self, peak: DataRate) -> MeterConfig {
        MeterConfig::TimeSlidingWindow { committed: *self.committed_rate, peak, window: *self.window }
    }
}

fn positive(rate: &Setting<DataRate>, key: &str, faults: &mut Faults) {
    if rate.as_bits_per_sec() == 0 {
        let help = "write the rate up to which packets are green, or leave `meter` out";
        faults.report(
            rate.place(),
            Fault::new(format!("with a `{key}` of zero no packet is green")).help(help),
        );
    }
}

//= https://www.rfc-editor.org/rfc/rfc2697#section-2
//# It is recommended that when the value of the CBS
//# or the EBS is larger than 0, it is larger than or equal to the size
//# of the largest possible IP packet in the stream.
fn burst(burst: &Setting<DataSize>, key: &str, mtu: DataSize, faults: &mut Faults) {
    let help =
        format!("let it hold a packet of the link's `mtu` at least: `{key} = \"{mtu}\"`, or some of them");
    if burst.as_bytes() == 0 {
        let fault = Fault::new(format!("`{key}` is nothing: it never holds a packet")).help(help);
        faults.report(burst.place(), fault);
    } else if **burst < mtu {
        let message =
            format!("`{key}` is {}: it holds no packet as long as the link's `mtu` of {mtu}", **burst);
        faults.warn(burst.place(), Fault::new(message).help(help));
    }
}

fn peak(committed: &Setting<DataRate>, peak: &Setting<DataRate>, faults: &mut Faults) {
    if **peak < **committed {
        let message = format!("`peak_rate` is {}, less than `committed_rate`, {}", **peak, **committed);
        let help = "let `peak_rate` be the larger one";
        faults.report(peak.place(), Fault::new(message).help(help));
    }
}
