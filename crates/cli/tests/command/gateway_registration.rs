//! `slantpath gateway` with application servers that their processes register.

use crate::gateway::{LAB, Live};
use crate::live::free_port;
use crate::place::Place;

/// The lab with an application server that is registered.
fn lab() -> String {
    LAB.replace("routing_context = 100", "routing_context = 100\nregistration = \"dynamic\"")
}

#[test]
fn a_process_serves_once_it_has_registered_its_routing_key() {
    let place = Place::new("gateway-registration");
    place.write("lab.toml", &lab());
    let udp = free_port();
    let london = Live::start(&place, udp, "london", &[]);
    let boston = Live::start(&place, udp, "boston", &[]);
    let exchange = Live::start(&place, udp, "exchange", &["--load", "there"]);
    london.until("association=first server=register event=registered");
    london.until("server=register event=as-active");
    boston.until("association=first server=register event=registered");
    boston.until("association=first server=register event=asp-active");
    boston.until("event=first-message");
    exchange.end();
    boston.end();
    london.until("association=first server=register event=deregistered");
    london.end();
}

/// Answer to a registration.
enum Told {
    /// A gateway at which nobody registers answers by an ERR.
    Error,
    Refused(&'static str),
    /// Application server that the gateway did not know.
    Registered,
}

#[test]
fn a_routing_key_that_is_refused_is_told_with_its_reason_at_both_ends() {
    let key = |si: &str| lab().replace("dpc = \"register\"", &format!("dpc = \"register\"\nsi = {si}"));
    let gateway = "[signalling.gateways.london]";
    let admitting = key("[5]").replace(gateway, &format!("{gateway}\ndynamic_servers = 2"));
    // Codes of 24 bits.
    let ansi = ["2-15-1", "2-15-3", "3-20-1"].iter().fold(lab(), |lab, code| {
        lab.replace(&format!("\"{code}\""), &format!("\"20{code}\"\nformat = \"ansi\""))
    });
    let cases = [
        (key("[5]"), key("[4]"), Told::Refused("routing key not currently provisioned")),
        (lab(), key("[5]"), Told::Refused("cannot support unique routing")),
        (lab(), ansi, Told::Refused("invalid DPC")),
        (LAB.to_owned(), lab(), Told::Error),
        (admitting, key("[4]"), Told::Registered),
    ];
    for (number, (of_gateway, of_process, told)) in cases.into_iter().enumerate() {
        let place = Place::new(&format!("gateway-registration-{number}"));
        let udp = free_port();
        place.write("lab.toml", &of_gateway);
        let mut london = Live::start(&place, udp, "london", &[]);
        assert!(london.line().contains(" is live at "));
        place.write("lab.toml", &of_process);
        let boston = Live::start(&place, udp, "boston", &[]);
        match told {
            Told::Error => drop(boston.until("association=first event=error-received")),
            Told::Refused(why) => {
                for live in [&boston, &london] {
                    let line = live.until("event=registration-refused");
                    assert!(line.ends_with(&format!(" reason=\"{why}\"")), "{line}");
                }
            }
            Told::Registered => {
                boston.until("server=register event=registered");
                boston.until("server=register event=asp-active");
                london.until("association=first event=registered");
            }
        }
        boston.end();
        london.end();
    }
}
