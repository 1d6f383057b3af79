//! Keys of congestion control that the configurations of TCP and SCTP share.

use core::fmt;
use core::marker::PhantomData;

use slantpath_base::{DataRate, DataSize};
use slantpath_cc::{Algorithm, NamedAlgorithm, SlowStart};
use slantpath_reader::{
    Fault, Faults, Json, KeyValue, Origin, Place, Setting, ValueNode, joined, json, policy, suggest, word_or,
};

policy! {
    /// Condition on which the first slow start ends.
    pub struct SlowStartChoice of SlowStart {
        /// By longer round trips as well, after five rounds of slower growth: RFC 9406.
        HyStartPlusPlus = "hystart++",
        /// By a train of acknowledgements, at most 2 ms apart, as long as half the round trip, or by longer round
        /// trips: Ha and Rhee 2011, as CUBIC in Linux.
        HyStart = "hystart",
        /// HyStart with acknowledgements at most 2 ms or a sixty-fourth of the round trip apart: over slow links with a
        /// long delay slow start ends before the queue is full there, too.
        HyStartOfLongPath = "hystart-long-path",
        /// By a loss, a mark or the threshold: RFC 5681, section 3.1, and RFC 9260, section 7.2.1.
        Standard = "standard",
    }
}

word_or! {
    /// Capacity of a path.
    pub enum Capacity {
        /// As it is measured.
        Measured = "measured",
        /// Rate that is given.
        Known(DataRate) like "9.6 Mbit/s",
    }
}

/// A transport's own controller, as its files have it.
pub trait OwnController: Clone + Copy + fmt::Debug + PartialEq + Eq {
    /// Name of it, with the words that explain it.
    const OWN: NamedAlgorithm;
}

/// The algorithm that governs a window: one of those that either transport may have, or the own one of `T`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControllerChoice<T>(Algorithm, PhantomData<T>);

impl<T: OwnController> ControllerChoice<T> {
    /// As a file has it.
    pub const fn of(algorithm: Algorithm) -> Self {
        Self(algorithm, PhantomData)
    }

    /// The algorithm that it stands for.
    pub const fn policy(self) -> Algorithm {
        self.0
    }

    fn all() -> impl Iterator<Item = NamedAlgorithm> {
        Algorithm::NAMED.iter().copied().chain([T::OWN])
    }
}

impl<T: OwnController> fmt::Display for ControllerChoice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = Self::all().find(|named| named.algorithm == self.0);
        f.write_str(named.unwrap_or(T::OWN).name)
    }
}

impl<T: OwnController> KeyValue for ControllerChoice<T> {
    type Most = ();

    fn read(node: &ValueNode) -> Result<Self, Fault> {
        let text = String::read(node)?;
        Self::all().find(|named| named.name == text).map(|named| Self::of(named.algorithm)).ok_or_else(|| {
            let names: Vec<&str> = Self::all().map(|named| named.name).collect();
            Fault::new(format!("`{text}` is none of the choices")).help(suggest(&text, "choices", &names))
        })
    }

    fn write(&self) -> String {
        format!("\"{self}\"")
    }

    fn schema() -> Json {
        let choice =
            |named: NamedAlgorithm| json!({ "const": named.name, "description": joined(named.about) });
        json!({ "oneOf": Self::all().map(choice).collect::<Vec<_>>() })
    }
}

/// Settings by which a profile governs its window, as far as TCP and SCTP have the same keys.
pub(crate) struct Governed<'a> {
    pub(crate) algorithm: Algorithm,
    /// Place at which the algorithm is chosen.
    pub(crate) place: Place,
    /// True if losses are found by time.
    pub(crate) is_timed: bool,
    pub(crate) known_capacity: &'a Setting<Capacity>,
    /// Permission for the network to mark packets in place of dropping them.
    pub(crate) ecn: &'a Setting<bool>,
    /// The first window, if it is given as a size.
    pub(crate) initial_cwnd: Option<(DataSize, Place)>,
    pub(crate) send_buffer: DataSize,
    pub(crate) receive_buffer: DataSize,
}

/// Reports choices that contradict each other.
pub(crate) fn check(governed: &Governed<'_>, faults: &mut Faults) {
    if governed.algorithm.needs_loss_times() && !governed.is_timed {
        let fault = Fault::new("this controller has to learn of each loss at its time");
        faults.report(governed.place, fault.help("write `loss_detection = \"rack\"` beside it"));
    }
    if **governed.ecn && !governed.algorithm.heeds_marks() {
        let fault =
            Fault::new("BBR does not react to marks: with `ecn` it would neither lose packets nor slow down");
        faults.report(governed.ecn.place(), fault.help("leave `ecn` out, or choose another controller"));
    }
    let capacity = governed.known_capacity;
    if capacity.quantity().is_some_and(|rate| rate.as_bits_per_sec() == 0) {
        let fault = Fault::new("a path of 0 bit/s carries nothing");
        faults.report(
            capacity.place(),
            fault.help("write what it carries, such as \"9.6 Mbit/s\", or \"measured\""),
        );
    } else if capacity.quantity().is_some() && !governed.algorithm.reads_capacity() {
        let fault = Fault::new("only the controller `backlog` makes use of a known capacity");
        let help = "write `congestion_control = \"backlog\"`, or leave `known_capacity` out";
        faults.report(capacity.place(), fault.help(help));
    }
    if let Some((initial, place)) = governed.initial_cwnd {
        let (name, least) = if governed.send_buffer < governed.receive_buffer {
            ("send_buffer", governed.send_buffer)
        } else {
            ("receive_buffer", governed.receive_buffer)
        };
        if initial > least {
            let message = format!("an initial window of {initial} is never filled: `{name}` holds {least}");
            faults.warn(
                place,
                Fault::new(message).help(format!("make `{name}` larger, or the window smaller")),
            );
        }
    }
}

/// Gives the fault of a capacity that is more than the rate of the slowest link on a path, or less than a tenth of it.
/// `whose` path it is ends the sentence about it.
pub fn capacity_fault(
    capacity: &Setting<Capacity>,
    (link, rate): (&str, DataRate),
    whose: &str,
) -> Option<Fault> {
    let known = capacity.quantity().filter(|_| capacity.origin() == Origin::Given)?;
    let (known_bits, rate_bits) = (known.as_bits_per_sec(), rate.as_bits_per_sec());
    let (relation, then) = if known_bits / 10 > rate_bits {
        ("more than ten times what", "")
    } else if known_bits > rate_bits {
        ("more than what", ": what is paced at that rate waits in its queue")
    } else if known_bits < rate_bits / 10 {
        ("less than a tenth of what", "")
    } else {
        return None;
    };
    let message = format!("{known} is {relation} link `{link}` on the path of {whose} carries, {rate}{then}");
    let help = "write what the path carries, or leave `known_capacity` out: it is measured then";
    Some(Fault::new(message).help(help))
}
