//! Rules and rates that can be read, that name what is there, and that are asked at all.

use slantpath_reader::{Fault, Faults, Place, Setting, Stage, Written, suggest};
use slantpath_signalling::ScreeningCriteria;
use slantpath_ss7::mtp3::ABOUT_DESTINATIONS;
use slantpath_ss7::sccp::gtt::DigitPattern;
use slantpath_ss7::sccp::{MESSAGE_TYPES, ReturnCause};

use crate::names::{gateway_point, gateways_of, is_served, link_sets, point, resolved};
use crate::route::titles::DIGITS;
use crate::schema::{Screening, ScreeningChoice, Signalling};
use crate::screening::build::{code_at, criteria, gate, message_type, rule_name};

/// Messages of SCCP that it answers when they are refused.
const ANSWERED: [&str; 4] = ["UDT", "XUDT", "LUDT", "CR"];

pub(crate) fn names(signalling: &Signalling<Written>, faults: &mut Faults) {
    for rule in &signalling.screening {
        screens(signalling, &rule.at, faults);
        for name in &*rule.from {
            gate_of(signalling, &rule.at, name, rule.from.place(), faults);
        }
        for codes in [&rule.opc, &rule.dpc] {
            for code in codes.iter().filter(|code| code_at(signalling, &rule.at, code).is_none()) {
                let points: Vec<&str> = signalling.points.iter().map(|(name, _)| name).collect();
                let help = format!(
                    "{}; or write a point code as that of `{}` is",
                    suggest(code, "points", &points),
                    *rule.at
                );
                let message = format!("`{code}` is neither a signalling point nor a point code");
                faults.report(codes.place(), Fault::new(message).help(help));
            }
        }
        for si in rule.si.iter().filter(|si| !(3..16).contains(*si)) {
            let message = format!("{si} is no service indicator of a user part");
            let help = "user parts have 3, which is SCCP's, to 15; name management's messages in `messages`";
            faults.report(rule.si.place(), Fault::new(message).help(help));
        }
        types(rule, faults);
        if let Some(called) = &rule.called {
            digits(called, faults);
        }
        cause(rule, faults);
    }
    for rate in &signalling.rates {
        screens(signalling, &rate.at, faults);
        for name in rate.from.iter().chain(&rate.to) {
            gate_of(signalling, &rate.at, name, name.place(), faults);
        }
        if let Some(called) = &rate.called {
            digits(called, faults);
        }
        if let (None, None, None) = (&rate.from, &rate.to, &rate.called) {
            let fault = Fault::new(format!("the rate is about everything that comes to `{}`", *rate.at));
            let help = "name a link set or an application server in `from` or `to`, or digits in `called`; \
                        `processing` is what bounds a point";
            faults.report(rate.rate.place(), fault.help(help));
        }
        if *rate.rate == 0 {
            let help =
                "write at least 1, or a rule in `[[signalling.screening]]` with `action = \"discard\"`";
            faults.report(rate.rate.place(), Fault::new("a rate of 0 takes nothing").help(help));
        }
        if let Some(burst) = rate.burst.as_ref().filter(|burst| ***burst == 0) {
            let fault = Fault::new("without a burst of at least 1 no message ever passes");
            faults.report(burst.place(), fault.help("write at least 1, or leave `burst` out"));
        }
    }
}

/// Called when all names are known: what rules say together.
pub(crate) fn check(signalling: &Signalling, faults: &mut Faults) {
    let mut asked: Vec<(usize, &Screening, ScreeningCriteria)> = Vec::new();
    for (number, rule) in signalling.screening.iter().enumerate() {
        let Some(own) = resolved(criteria(signalling, rule), faults) else { continue };
        if own.is_empty() {
            let message =
                format!("no message is as `{}` asks: its keys exclude each other", rule_name(number));
            let help =
                "addresses are SCCP's, whose service indicator is 3; `messages` have those of their layer";
            faults.report(rule.action.place(), Fault::new(message).help(help));
            continue;
        }
        if *rule.action == ScreeningChoice::Reject && !own.is_of_sccp() {
            let message = "only SCCP answers what is rejected, and the rule is about other messages, too";
            let help = "add `si = [3]` to it, or write `action = \"discard\"`";
            faults.report(rule.action.place(), Fault::new(message).help(help));
        }
        let mut before = asked.iter().filter(|(_, first, _)| first.at == rule.at);
        if let Some((first, ..)) = before.find(|(_, _, first)| first.covers(&own)) {
            let message = format!(
                "`{}` is never asked: `{}` before it decides about all its messages",
                rule_name(number),
                rule_name(*first)
            );
            let help = "put it in front of that one, or remove it";
            faults.report(rule.action.place(), Fault::new(message).help(help));
        }
        asked.push((number, rule, own));
    }
}

/// The point is one that messages come to by links or associations.
fn screens<S: Stage>(signalling: &Signalling<S>, at: &Setting<String>, faults: &mut Faults) {
    point(signalling, at, at.place(), faults);
    if is_served(signalling, at) {
        let message = format!("the users of `{}` are above M3UA: it has nothing that screens", **at);
        let help = "let the gateway screen in front of it, with `dpc` for the point";
        faults.report(at.place(), Fault::new(message).help(help));
    }
}

/// Reports what is neither a link set of a point nor an application server behind it, or both.
fn gate_of<S: Stage>(signalling: &Signalling<S>, at: &str, name: &str, place: Place, faults: &mut Faults) {
    if signalling.points.find(at).is_none() {
        return;
    }
    let adjacent = link_sets(signalling, at).into_iter().map(|(far, _)| far);
    let mut known: Vec<&str> = adjacent.collect();
    let servers = signalling.application_servers.iter().filter(|(_, server)| {
        gateways_of(signalling, server).iter().any(|gateway| gateway_point(signalling, gateway) == at)
    });
    let servers: Vec<&str> = servers.map(|(server, _)| server).collect();
    if known.contains(&name) && servers.contains(&name) {
        let message = format!("`{name}` is an adjacent point of `{at}` and an application server, too");
        faults.report(place, Fault::new(message).help("give the application server another name"));
    }
    known.extend(servers);
    if gate(signalling, at, name).is_none() {
        let message = format!("`{at}` has no link set to `{name}`, and no application server of that name");
        faults.report(place, Fault::new(message).help(suggest(name, "link sets and servers", &known)));
    }
}

fn types(rule: &Screening, faults: &mut Faults) {
    for name in rule.messages.iter().filter(|name| message_type(name).is_none()) {
        let about = ABOUT_DESTINATIONS.into_iter().map(|(name, _)| name);
        let known: Vec<&str> = MESSAGE_TYPES.into_iter().chain(about).collect();
        let message = format!("`{name}` is no message of SCCP, and none of management about destinations");
        let help = suggest(name, "messages", &known)
            + "; messages about links and the restart are the two ends' alone, and are not screened";
        faults.report(rule.messages.place(), Fault::new(message).help(help));
    }
    if *rule.action == ScreeningChoice::Reject {
        for name in rule.messages.iter().filter(|name| !ANSWERED.contains(&name.as_str())) {
            let message = format!("nothing answers a rejected `{name}`");
            let help = format!("write `action = \"discard\"`; SCCP answers {}", ANSWERED.join(", "));
            faults.report(rule.messages.place(), Fault::new(message).help(help));
        }
    }
}

fn cause(rule: &Screening, faults: &mut Faults) {
    let known = |code: u8| ReturnCause::ALL.iter().any(|(cause, _)| cause.0 == code);
    if !known(*rule.cause) {
        let last = ReturnCause::ALL.len() - 1;
        let message = format!("there is no return cause {}", *rule.cause);
        let help = format!("they are 0 to {last} (Q.713, section 3.12)");
        faults.report(rule.cause.place(), Fault::new(message).help(help));
    } else if *rule.action != ScreeningChoice::Reject && *rule.cause != ReturnCause::UNQUALIFIED.0 {
        let message = format!("`cause` has no meaning with `action = \"{}\"`", *rule.action);
        faults.report(rule.cause.place(), Fault::new(message).help("write `action = \"reject\"`"));
    }
}

fn digits(pattern: &Setting<String>, faults: &mut Faults) {
    if let Err(error) = DigitPattern::parse(pattern) {
        faults.report(pattern.place(), Fault::new(error.to_string()).help(DIGITS));
    }
}
