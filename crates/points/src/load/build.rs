//! Configuration of the generator of a load, once its names are resolved.

use slantpath_base::Instant;
use slantpath_reader::Stage;
use slantpath_ss7::load::{self, ByCode, ByTitle, GeneratorConfig, Lengths};
use slantpath_ss7::mtp3::{ServiceIndicator, ServiceInformation};
use slantpath_ss7::sccp::{Digits, GlobalTitle, PartyAddress, Ssn};

use crate::names::{Unresolved, code, known};
use crate::schema::{Arrivals, LengthMix, Load, LoadRouting, LoadSelection, LoadStep, Signalling};

/// Routing of the messages of a load.
pub(crate) fn routing<S: Stage>(
    signalling: &Signalling<S>,
    load: &Load<S>,
) -> Result<load::Routing, Unresolved> {
    let code = ByCode {
        destinations: load.to.iter().map(|to| code(signalling, to)).collect::<Result<_, _>>()?,
        service: service_of(load),
    };
    let Some(title) = by_title(signalling, load)? else { return Ok(load::Routing::PointCode(code)) };
    Ok(match (*load.routing, &load.title_share) {
        (LoadRouting::Shared, Some(share)) => {
            load::Routing::Shared { title_share: share.as_f64(), title, code }
        }
        _ => load::Routing::GlobalTitle(title),
    })
}

fn service_of<S: Stage>(load: &Load<S>) -> ServiceIndicator {
    let service = S::known(&load.service).map(|service| **service).and_then(ServiceIndicator::new);
    service.unwrap_or(ServiceIndicator::ISUP)
}

fn by_title<S: Stage>(signalling: &Signalling<S>, load: &Load<S>) -> Result<Option<ByTitle>, Unresolved> {
    let Some(translator) = load.translator.as_ref().filter(|_| load.routing.is_by_title()) else {
        return Ok(None);
    };
    let subsystem = load.subsystem.map(|ssn| Ssn(*ssn));
    let called = |digits: &String| {
        let title = GlobalTitle::with(
            Some(*load.translation_type),
            Some(*load.plan),
            Some(*load.nature),
            known(Digits::parse(digits).ok(), digits)?,
        );
        Ok(PartyAddress { ssn: subsystem, global_title: Some(title), ..PartyAddress::default() })
    };
    let all = load.called.iter().flat_map(|called| called.iter());
    Ok(Some(ByTitle {
        translator: code(signalling, translator)?,
        called: all.map(called).collect::<Result<_, _>>()?,
        calling: PartyAddress { routes_on_ssn: true, ssn: subsystem, ..PartyAddress::default() },
    }))
}

fn step_of(step: &LoadStep) -> load::LoadStep {
    load::LoadStep { at: Instant::START + *step.at, over: *step.over, erlang_per_link: *step.erlang_per_link }
}

/// Configuration of the generator of a load.
pub(crate) fn generator(signalling: &Signalling, load: &Load) -> Result<GeneratorConfig, Unresolved> {
    let point = known(signalling.points.find(&load.from), &load.from)?;
    let service = service_of(load);
    let lengths = match &*load.lengths {
        LengthMix::IsupCalls => Lengths::isup_calls(),
        LengthMix::Trace => Lengths::Trace,
        LengthMix::Weighted(mix) => {
            Lengths::Mix(mix.iter().map(|(octets, weight)| (usize::from(*octets), *weight)).collect())
        }
        LengthMix::Octets(octets) => match octets.as_slice() {
            [octets] => Lengths::Fixed(usize::from(*octets)),
            octets => Lengths::Mix(octets.iter().map(|octets| (usize::from(*octets), 1.0)).collect()),
        },
    };
    let arrivals = match *load.arrivals {
        Arrivals::Constant => load::Arrivals::Constant,
        Arrivals::OnOff => load::Arrivals::OnOff {
            mean_on: load.mean_on.map(|mean| *mean).unwrap_or_default(),
            mean_off: load.mean_off.map(|mean| *mean).unwrap_or_default(),
        },
        Arrivals::Poisson => load::Arrivals::Poisson,
        Arrivals::Trace => load::Arrivals::Trace(load.messages.0.clone()),
    };
    Ok(GeneratorConfig {
        links: *load.links,
        first_link: 0,
        erlang_per_link: *load.erlang_per_link,
        steps: load.steps.iter().map(|step| step_of(step)).collect(),
        line_rate: *load.line_rate,
        lengths,
        selection: match *load.selection {
            LoadSelection::Link => load::Selection::Link,
            LoadSelection::Trace => load::Selection::Trace,
        },
        arrivals,
        routing: routing(signalling, load)?,
        origin: point.code.0,
        service: ServiceInformation {
            indicator: service,
            network: point.network.policy(),
            priority: *load.priority,
        },
        start: Instant::START + *load.start,
        stop: Instant::START + *load.stop,
    })
}
