//! Gateways and processes that are killed under load, and a site whose parts come and go: programs over the loopback,
//! in UDP. What is promised then is held in virtual time, too, where every message is counted.

use crate::gateway::Live;
use crate::live::free_port;
use crate::place::Place;
use crate::traffic::sums;

const LAB: &str = include_str!("promises.toml");

/// A site whose loads have so many messages a second each, or as SLANTPATH_MSUS says.
fn lab(name: &str, msus: u32) -> Place {
    const LINKS: f64 = 16.0;
    const OCTETS: f64 = 60.0;
    let place = Place::new(name);
    let free = ["9900", "9901", "9902"].map(|port| (port, free_port().to_string()));
    let text = free.iter().fold(LAB.to_owned(), |text, (port, own)| text.replace(port, own));
    let msus = std::env::var("SLANTPATH_MSUS").ok().and_then(|text| text.parse().ok()).unwrap_or(msus);
    let erlang = f64::from(msus) / LINKS * OCTETS * 8.0 / 64_000.0;
    let text = text.replace("erlang_per_link = 0.1", &format!("erlang_per_link = {erlang}"));
    place.write("lab.toml", &text);
    place
}

fn point(place: &Place, point: &str, more: &[&str]) -> Live {
    Live::of(place.command(&[&["gateway", "lab.toml", "--point", point][..], more].concat()))
}

/// Seconds at which a line of a log was told.
fn at(line: &str) -> f64 {
    let words = line.strip_prefix("t=").and_then(|rest| rest.split(' ').next());
    words.and_then(|words| words.parse().ok()).expect("an instant")
}

/// Messages that came to user parts, as a program says at its end.
fn arrived(out: &str) -> u64 {
    let line = out.lines().find(|line| line.contains(" messages came to user parts")).expect("a line");
    line.split(' ').next().expect("a number").parse().expect("a number")
}

#[test]
fn a_gateway_is_killed_and_the_other_of_the_pair_has_its_traffic() {
    let place = lab("promises-gateway", 200);
    let [left, right] = ["left", "right"].map(|name| point(&place, name, &[]));
    let traffic = Live::of(place.command(&["traffic", "lab.toml", "--duration", "7 s", "--out", "out"]));
    traffic.until("event=first-message");
    left.kill();
    let gone = traffic.until("link=west-1 event=unavailable");
    let diverted = traffic.until("link=west-1 event=traffic-diverted");
    let [out, _] = traffic.ended();
    let told = sums(&place, "out");
    let (sent, lost) = (told["sent_messages"], told["lost_messages"]);
    println!("gateway killed: {sent} sent, {lost} lost, {:.3} s until diverted", at(&diverted) - at(&gone));
    assert_eq!((told["repeated_messages"], told["out_of_sequence_messages"]), (0.0, 0.0), "{out}");
    // Of what was on its way to it some is lost, and of what came later nothing.
    assert!(sent > 500.0 && lost < sent / 10.0, "{out}");
    right.end();
}

#[test]
fn a_process_is_killed_and_the_other_one_gets_all_that_was_not_sent() {
    let place = lab("promises-process", 200);
    let left = point(&place, "left", &["--control", "left.sock"]);
    let [first, second] = ["asp-1", "asp-2"].map(|name| point(&place, name, &[]));
    first.until("association=a-left-1 server=register event=asp-active");
    second.until("association=a-left-2 server=register event=asp-active");
    let send = ["traffic", "lab.toml", "--send", "there", "--duration", "6 s", "--out", "out"];
    let traffic = Live::of(place.command(&send));
    first.until("event=first-message");
    first.kill();
    let gone = left.until("association=a-left-1 event=association-ended");
    let diverted = left.until("association=a-left-1 server=register event=traffic-diverted");
    traffic.ended();
    let sent = sums(&place, "out")["sent_messages"];
    let status = place.run(&["set", "left.sock", "--status", "--json"]).out;
    let status: serde_json::Value = serde_json::from_str(&status).expect("it is JSON");
    let all = status["associations"].as_array().expect("associations");
    let killed = all.iter().find(|end| end["association"] == "a-left-1").expect("it is there");
    let count = |name: &str| killed[name].as_f64().expect("a number");
    let [out, _] = second.end();
    #[expect(clippy::cast_precision_loss, reason = "they are few")]
    let rest = sent - arrived(&out) as f64;
    // The other one has all but what the first had been sent: all of that but the messages in doubt has arrived there.
    let sent_to_first = count("sent") - count("returned");
    assert!(rest > 0.0 && rest <= sent_to_first, "{rest} {killed:#}");
    assert!(count("in_doubt") < sent / 10.0, "{killed:#}");
    println!(
        "process killed: {sent} sent, {rest} not at the other, {} back unsent, {} in doubt, {:.3} s until diverted",
        count("returned"),
        count("in_doubt"),
        at(&diverted) - at(&gone)
    );
    left.end();
}

/// Kilobytes that a program holds in memory, and its open descriptors.
fn held(of: &Live) -> (u64, usize) {
    let place = format!("/proc/{}", of.id());
    let status = std::fs::read_to_string(format!("{place}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
    let kilobytes = line.trim().trim_end_matches(" kB").parse().expect("a number");
    (kilobytes, std::fs::read_dir(format!("{place}/fd")).expect("descriptors").count())
}

/// Six rounds unless SLANTPATH_CHURN_ROUNDS says otherwise: links are taken out and come back, a process ends or is
/// killed and begins anew, and a gateway takes another file. Another gateway is recorded, and repeated afterwards.
#[test]
fn a_site_whose_parts_come_and_go_grows_by_nothing_and_is_repeated() {
    let asked = std::env::var("SLANTPATH_CHURN_ROUNDS").ok().and_then(|text| text.parse().ok());
    let count: usize = asked.unwrap_or(6).max(3);
    let place = lab("promises-churn", 100);
    let file = std::fs::read_to_string(place.path().join("lab.toml")).expect("a file");
    let other =
        format!("{file}\n[[signalling.screening]]\nat = \"left\"\nopc = [\"1-1-1\"]\naction = \"discard\"\n");
    let point = |name: &str, more: &[&str]| point(&place, name, more);
    let left = point("left", &["--control", "left.sock"]);
    let right = point("right", &["--control", "right.sock", "--record", "right.record"]);
    let first = point("asp-1", &["--load", "back"]);
    let exchange = point("exchange", &["--control", "exchange.sock", "--load", "there"]);
    let order = |socket: &str, keys: [&str; 2]| {
        let done = place.run(&["set", socket, "--do", keys[0], keys[1]]);
        assert_eq!((done.status, done.err.as_str()), (Some(0), ""), "{}", done.out);
    };
    left.until("link=west-1 event=available");
    right.until("server=register event=as-active");
    exchange.until("link=east-1 event=available");
    let mut rounds: Vec<[(u64, usize); 3]> = Vec::new();
    while rounds.len() < count {
        let second = point("asp-2", &[]);
        right.until("association=a-right-2 server=register event=asp-active");
        for (socket, link, of) in [("left.sock", "west-1", &left), ("right.sock", "east-1", &right)] {
            order(socket, ["action=deactivate", &format!("link={link}")]);
            of.until(&format!("link={link} event=unavailable"));
            order(socket, ["action=activate", &format!("link={link}")]);
            of.until(&format!("link={link} event=available"));
        }
        let is_even = rounds.len().is_multiple_of(2);
        place.write("lab.toml", if is_even { &other } else { &file });
        left.hang_up();
        left.until("event=reloaded");
        if is_even {
            second.kill();
        } else {
            second.end();
        }
        right.until("association=a-right-2 event=association-down");
        rounds.push([&left, &right, &exchange].map(held));
    }
    // What a program needs it has by the second round; a recorded one keeps what it writes at the end.
    let (early, late) = (rounds[1], rounds[rounds.len() - 1]);
    for (number, name) in [(0, "left"), (2, "exchange")] {
        let ((before, _), (after, _)) = (early[number], late[number]);
        assert!(after < before + before / 4 + 2_048, "{name}: {before} kB, and then {after} kB: {rounds:?}");
    }
    for (number, name) in ["left", "right", "exchange"].into_iter().enumerate() {
        assert!(late[number].1 <= early[number].1 + 1, "{name}: {rounds:?}");
    }
    exchange.end();
    let [out, _] = first.end();
    assert!(arrived(&out) > 100, "{out}");
    left.end();
    right.end();
    let replayed = place.run(&["replay", "right.record"]);
    assert_eq!(replayed.status, Some(0), "{}{}", replayed.out, replayed.err);
    assert!(replayed.out.ends_with("\nthe same as that of the live run\n"), "{}", replayed.out);
}
