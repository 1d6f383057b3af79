//! Screening and rates of a point, once their names are resolved.

use slantpath_reader::Stage;
use slantpath_signalling::{
    Gate, RateLimit, ScreenedType, ScreeningAction, ScreeningConfig, ScreeningCriteria, ScreeningRule,
};
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::ABOUT_DESTINATIONS;
use slantpath_ss7::mtp3::node::LinkSetId;
use slantpath_ss7::sccp::gtt::DigitPattern;
use slantpath_ss7::sccp::{MESSAGE_TYPES, ReturnCause, Ssn};

use crate::names::{Unresolved, gateway_point, gateways_of, known, link_sets};
use crate::schema::{Screening, ScreeningChoice, Signalling, SignallingRate};

/// Part of a second whose messages may come at once where nobody says otherwise.
const BURSTS_A_SECOND: u32 = 10;

/// The name of a rule in results: its place in the list, as `--set` counts.
pub(crate) fn rule_name(number: usize) -> String {
    format!("signalling.screening.{number}")
}

/// The name of a rate in results.
pub(crate) fn rate_name(number: usize) -> String {
    format!("signalling.rates.{number}")
}

/// Everything that a point screens.
pub(crate) fn screening(signalling: &Signalling, point: &str) -> Result<ScreeningConfig, Unresolved> {
    let own = signalling.screening.iter().enumerate().filter(|(_, rule)| *rule.at == point);
    let rules = own.map(|(number, rule)| {
        Ok::<_, Unresolved>(ScreeningRule {
            name: rule_name(number),
            criteria: criteria(signalling, rule)?,
            action: match *rule.action {
                ScreeningChoice::Allow => ScreeningAction::Allow,
                ScreeningChoice::Discard => ScreeningAction::Discard,
                ScreeningChoice::Reject => ScreeningAction::Reject(ReturnCause(*rule.cause)),
            },
            copies: *rule.copy,
        })
    });
    let own = signalling.rates.iter().enumerate().filter(|(_, rate)| *rate.at == point);
    let rates = own.map(|(number, rate)| rate_limit(signalling, number, rate));
    Ok(ScreeningConfig { rules: rules.collect::<Result<_, _>>()?, rates: rates.collect::<Result<_, _>>()? })
}

/// Criteria of a rule.
pub(super) fn criteria(signalling: &Signalling, rule: &Screening) -> Result<ScreeningCriteria, Unresolved> {
    let gates = rule.from.iter().map(|name| known(gate(signalling, &rule.at, name), name));
    let codes = |codes: &[String]| {
        codes.iter().map(|text| known(code_at(signalling, &rule.at, text), text)).collect::<Result<_, _>>()
    };
    let types = rule.messages.iter().map(|name| known(message_type(name), name));
    let ssns = |ssns: &[u8]| ssns.iter().copied().map(Ssn).collect();
    Ok(ScreeningCriteria {
        arrivals: gates.collect::<Result<_, _>>()?,
        opcs: codes(&rule.opc)?,
        dpcs: codes(&rule.dpc)?,
        services: rule.si.to_vec(),
        network: rule.network.as_ref().map(|network| network.policy()),
        types: types.collect::<Result<_, _>>()?,
        called_ssns: ssns(&rule.called_subsystem),
        calling_ssns: ssns(&rule.calling_subsystem),
        called: rule.called.as_ref().map(|digits| pattern(digits)).transpose()?,
    })
}

fn rate_limit(
    signalling: &Signalling,
    number: usize,
    rate: &SignallingRate,
) -> Result<RateLimit, Unresolved> {
    let gate = |name: &String| known(gate(signalling, &rate.at, name), name);
    let criteria = ScreeningCriteria {
        arrivals: rate.from.as_ref().map(|from| gate(from)).transpose()?.into_iter().collect(),
        called: rate.called.as_ref().map(|digits| pattern(digits)).transpose()?,
        ..ScreeningCriteria::default()
    };
    Ok(RateLimit {
        name: rate_name(number),
        criteria,
        towards: rate.to.as_ref().map(|to| gate(to)).transpose()?,
        messages_per_second: *rate.rate,
        burst: rate.burst.as_ref().map_or((*rate.rate / BURSTS_A_SECOND).max(1), |burst| **burst),
    })
}

fn pattern(text: &str) -> Result<DigitPattern, Unresolved> {
    known(DigitPattern::parse(text).ok(), text)
}

/// The link set of a point towards an adjacent one, or an application server behind the gateway there.
pub(super) fn gate<S: Stage>(signalling: &Signalling<S>, at: &str, name: &str) -> Option<Gate> {
    let sets = link_sets(signalling, at);
    let set = (0_u16..).zip(&sets).find(|(_, (far, _))| *far == name);
    let server = signalling.application_servers.find(name).filter(|server| {
        gateways_of(signalling, server).iter().any(|gateway| gateway_point(signalling, gateway) == at)
    });
    let server = server.map(|server| Gate::Server(*server.routing_context));
    server.or_else(|| set.map(|(id, _)| Gate::LinkSet(LinkSetId(id))))
}

/// The point code of a point, or that which a text is where such a point writes it.
pub(super) fn code_at<S: Stage>(signalling: &Signalling<S>, at: &str, text: &str) -> Option<PointCode> {
    let parse =
        |text: &str, point: &str| PointCode::parse(text, signalling.points.find(point)?.format.policy()).ok();
    match signalling.points.find(text) {
        Some(point) => parse(&point.point_code, text),
        None => parse(text, at),
    }
}

/// The type of message of that name.
pub(super) fn message_type(name: &str) -> Option<ScreenedType> {
    const SCCP: u8 = 3;
    let of_sccp = (1_u8..).zip(MESSAGE_TYPES).find(|(_, known)| *known == name);
    let of_sccp = of_sccp.map(|(code, _)| ScreenedType { service: SCCP, code });
    let about = ABOUT_DESTINATIONS.into_iter().find(|(known, _)| *known == name);
    // RSR is a message of both: in SCCP it resets a connection, which nobody screens.
    about.map(|(_, code)| ScreenedType { service: 0, code }).or(of_sccp)
}
