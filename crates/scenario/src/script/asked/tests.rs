use proptest::prelude::*;
use slantpath_base::Duration;
use slantpath_reader::{Document, files_in};

use super::*;
use crate::{Contacts, Watch, read};

const SCENARIO: &str = "\
[scenario]
name = \"t\"
duration = \"10 s\"
[nodes]
near.kind = \"attached\"
far.kind = \"attached\"
[links.satellite]
ends = [\"near\", \"far\"]
rate = \"2 Mbit/s\"
delay = \"250 ms\"
[links.steady]
ends = [\"near\", \"far\"]
rate = \"2 Mbit/s\"
delay = \"250 ms\"
forward.header_compression = { compressed = \"3 B\" }
";

/// After the scenario's `duration`: an emulation goes on.
const AT: Instant = Instant::from_secs(12);

fn scenario(text: &str) -> Checked {
    let (entries, mut faults) = Document::parse("f.toml", text).entries().unwrap();
    let draft = read(&entries, &files_in(std::path::Path::new(".")), &crate::OwnKinds::none(), &mut faults);
    let contacts = Contacts { known: None, watch: Watch::new(&|_| {}) };
    let checked = draft.map(|draft| draft.with_contacts(contacts, &mut faults));
    faults.whole(checked).unwrap_or_else(|faults| panic!("{faults}"))
}

fn set(settings: &[(&str, &str)]) -> Result<Vec<Named<Event>>, String> {
    let events = events_of_settings(&scenario(SCENARIO), AT, settings.iter().copied());
    events.map_err(|faults| told(&faults))
}

fn act(table: &[(&str, &str)]) -> Result<Vec<Named<Event>>, String> {
    event_of_table(&scenario(SCENARIO), AT, table.iter().copied()).map_err(|faults| told(&faults))
}

fn told(faults: &Diagnostics) -> String {
    let told = |fault: &slantpath_reader::Diagnostic| {
        format!("{}: {}", fault.message, fault.help.as_deref().unwrap_or("-"))
    };
    faults.iter().map(told).collect::<Vec<_>>().join("; ")
}

#[test]
fn settings_of_one_link_and_direction_are_one_event() {
    let events = set(&[
        ("links.satellite.reorder", "1 %"),
        ("links.satellite.forward.delay", "30 ms"),
        ("links.satellite.reorder_delay", "5 ms"),
    ])
    .unwrap();
    let [both, forward] = &events[..] else { panic!("{events:?}") };
    assert_eq!((both.link.as_str(), *both.direction, *both.action), ("satellite", Which::Both, Action::Set));
    assert_eq!(*both.at, Duration::from_secs(12));
    assert_eq!(both.reorder.unwrap().to_string(), "0.01");
    assert_eq!(*both.reorder_delay.unwrap(), Duration::from_millis(5));
    assert_eq!((both.delay, *forward.direction), (None, Which::Forward));
    assert_eq!(*forward.delay.unwrap(), Duration::from_millis(30));
}

#[test]
fn an_event_is_a_table_of_the_script_without_its_instant() {
    let events = act(&[("action", "\"down\""), ("link", "\"satellite\"")]).unwrap();
    assert_eq!((*events[0].action, *events[0].direction), (Action::Down, Which::Both));
    let both = act(&[("action", "\"set\""), ("link", "\"satellite\""), ("at", "\"1 s\"")]);
    let at = "`at` has no meaning here: leave it out: it happens at once";
    let nothing = "nothing is set: give at least one of `rate`, `delay`, `loss`, `bit_error_rate`, `duplicate`, \
                   `reorder`";
    assert_eq!(both.unwrap_err(), format!("{nothing}; {at}"));
}

#[test]
fn what_a_script_may_not_change_is_refused_in_its_words() {
    let all =
        "what can be set: `rate`, `delay`, `loss`, `bit_error_rate`, `duplicate`, `reorder`, `reorder_delay`";
    let path = "write it like `links.satellite.loss`, or `links.satellite.forward.loss`";
    let order = "`duplicate` has no meaning on a link with `arq` or `header_compression`: such a link numbers its \
                 packets";
    for (setting, value, expected) in [
        ("links.satelite.loss", "5 %", "there is no link `satelite`: did you mean `satellite`?".to_owned()),
        (
            "links.satellite.los",
            "5 %",
            "`los` is nothing that can be set while a network runs: did you mean `loss`?".to_owned(),
        ),
        (
            "links.satellite.queue",
            "9 packets",
            format!("`queue` is nothing that can be set while a network runs: {all}"),
        ),
        ("links.satellite.at", "1 s", format!("`at` is nothing that can be set while a network runs: {all}")),
        ("satellite.loss", "5 %", format!("`satellite.loss` is no path of what can be set: {path}")),
        ("links..loss", "5 %", format!("`links..loss` is no path of what can be set: {path}")),
        (
            "links.satellite.rate",
            "0 bit/s",
            "a link of rate zero never sends: write `action = \"down\"` for a link that carries nothing"
                .to_owned(),
        ),
        (
            "links.satellite.reorder",
            "1 %",
            "`reorder` is set without `reorder_delay`: set both: they are one change".to_owned(),
        ),
        ("links.steady.forward.duplicate", "1 %", order.to_owned()),
    ] {
        assert_eq!(set(&[(setting, value)]).unwrap_err(), expected, "{setting}");
    }
    assert!(set(&[("links.steady.reverse.duplicate", "1 %")]).is_ok());
    assert!(set(&[("links.satellite.loss", "5")]).is_err());
    assert!(set(&[("links.satellite.loss", "5 %"), ("links.satellite.rate", "7")]).is_err());
}

#[test]
fn bits_are_not_flipped_below_a_profile_without_checksum() {
    let text = format!("{SCENARIO}[sctp.default]\nzero_checksum = \"dtls\"\n");
    let scenario = scenario(&text);
    let set = |key| events_of_settings(&scenario, AT, [(key, "1e-6")]);
    let told = told(&set("links.satellite.bit_error_rate").unwrap_err());
    assert!(told.starts_with("`satellite`, as the script has it, flips bits"), "{told}");
    assert!(set("links.satellite.loss").is_ok());
}

proptest! {
    #[test]
    fn any_setting_is_an_event_or_a_fault(path in "(links\\.)?[a-z.]{0,20}(loss|delay)?", value in any::<String>()) {
        let scenario = scenario(SCENARIO);
        let _ = events_of_settings(&scenario, AT, [(path.as_str(), value.as_str())]);
        let _ = events_of_settings(&scenario, AT, [("links.satellite.loss", value.as_str())]);
        let _ = event_of_table(&scenario, AT, [("link", value.as_str()), (path.as_str(), "1")]);
    }
}
