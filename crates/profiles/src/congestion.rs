//! Keys of congestion control that the configurations of TCP and SCTP share.

use core::fmt;
use core::marker::PhantomData;

use slantpath_base::{DataRate, DataSize};
use slantpath_cc::{Algorithm, NamedAlgorithm, OwnChoice, OwnControllers, SlowStart};
use slantpath_reader::{
    Asked, Fault, Faults, Json, KeyValue, Origin, Place, Setting, ValueNode, joined, json, policy, suggest,
    word_or,
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
pub trait TransportControl: Clone + Copy + fmt::Debug + PartialEq + Eq {
    /// Name of it, with the words that explain it.
    const OWN: NamedAlgorithm;
}

/// The algorithm that governs a window: one of those that either transport may have, the own one of `T`, or one of the
/// program's own.
#[derive(Clone, Debug, PartialEq)]
pub struct ControllerChoice<T>(Choice, PhantomData<T>);

#[derive(Clone, Debug, PartialEq)]
enum Choice {
    Algorithm(Algorithm),
    /// A name that is none of the project's: the program may have it.
    Asked(Box<Asked>),
}

impl<T: TransportControl> ControllerChoice<T> {
    /// As a file has it.
    pub const fn of(algorithm: Algorithm) -> Self {
        Self(Choice::Algorithm(algorithm), PhantomData)
    }

    /// The algorithm that it stands for; the transport's own as long as it is not [known](resolve).
    pub const fn policy(&self) -> Algorithm {
        match self.0 {
            Choice::Algorithm(algorithm) => algorithm,
            Choice::Asked(_) => Algorithm::Standard,
        }
    }

    fn all() -> impl Iterator<Item = NamedAlgorithm> {
        Algorithm::NAMED.iter().copied().chain([T::OWN])
    }
}

impl<T: TransportControl> KeyValue for ControllerChoice<T> {
    type Most = ();

    fn read(node: &ValueNode) -> Result<Self, Fault> {
        let asked = Asked::read(node)?;
        let Some(named) = Self::all().find(|named| named.name == asked.kind) else {
            return Ok(Self(Choice::Asked(Box::new(asked)), PhantomData));
        };
        let Asked { kind, code: None, parameters } = asked else {
            let help = "take it away: it is for one of the program's own";
            return Err(Fault::new("only a controller from elsewhere has a `code`").help(help));
        };
        if let Some((name, _)) = parameters.first() {
            let help = "its settings are keys of the profile, beside `congestion_control`";
            return Err(Fault::new(format!("`{kind}` has no parameter `{name}`")).help(help));
        }
        Ok(Self::of(named.algorithm))
    }

    fn write(&self) -> String {
        match &self.0 {
            Choice::Algorithm(Algorithm::Own(own)) => Asked::write(own.declaration(), own.parameters()),
            Choice::Algorithm(algorithm) => {
                let named = Self::all().find(|named| named.algorithm == *algorithm);
                named.unwrap_or(T::OWN).name.to_owned().write()
            }
            Choice::Asked(asked) => asked.kind.write(),
        }
    }

    fn schema() -> Json {
        let choice =
            |named: NamedAlgorithm| json!({ "const": named.name, "description": joined(named.about) });
        json!({ "oneOf": Self::all().map(choice).collect::<Vec<_>>() })
    }
}

/// Finds the controller of the program that a name stands for, if it is none of the project's.
pub(crate) fn resolve<T: TransportControl>(
    setting: &mut Setting<ControllerChoice<T>>,
    controllers: &OwnControllers,
    faults: &mut Faults,
) {
    let Choice::Asked(asked) = &setting.0 else { return };
    match chosen::<T>(asked, controllers) {
        Ok(own) => setting.complete(ControllerChoice::of(Algorithm::Own(own))),
        Err(fault) => faults.report(setting.place(), fault),
    }
}

fn chosen<T: TransportControl>(asked: &Asked, controllers: &OwnControllers) -> Result<OwnChoice, Fault> {
    let Some(controller) = controllers.find(&asked.kind) else {
        let own = controllers.iter().map(|own| own.declaration().name.as_str());
        let names: Vec<&str> = ControllerChoice::<T>::all().map(|named| named.name).chain(own).collect();
        let fault = Fault::new(format!("`{}` is none of the choices", asked.kind));
        return Err(fault.help(suggest(&asked.kind, "choices", &names)));
    };
    let declaration = controller.declaration();
    asked.check_code(declaration)?;
    let chosen = controllers.choose(controller, &asked.parameters);
    chosen.map_err(|fault| Asked::parameter_fault(declaration, &fault))
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
