//! The question and its answer as a file of results, which a report is made of.

use serde_json::{Map, Value as Json, json};
use slantpath_base::{DataRate, DataSize, Duration};
use slantpath_reader::{MergedOutput, WriteFields};

use super::{json as answer_as_json, unit_name};
use crate::answer::{Answer, PromiseStanding};
use crate::question::{Question, json_schema};

/// Meanings of the settings of an answer, by name.
const MEANINGS: [(&str, &str); 24] = [
    ("gateway.transmission_queue", "Messages that may wait above SCTP."),
    ("m2pa.proving_interval", "Time between the messages with which a link is proved."),
    ("m2pa.t7", "T7: longest time without an acknowledgement of M2PA."),
    ("m3ua.queue", "Messages that are queued for an application server without an active ASP."),
    ("m3ua.t_ack", "T(ack): time until ASP Up, ASP Active and their like are retransmitted."),
    ("m3ua.t_r", "T(r): time for which messages wait for an active ASP."),
    ("mtp3.slt_t1", "Time for which the answer to a signalling link test is waited for."),
    ("mtp3.t12", "T12: waiting for the acknowledgement of an uninhibition."),
    ("mtp3.t14", "T14: waiting for the acknowledgement of an inhibition."),
    ("mtp3.t2", "T2: waiting for the acknowledgement of a changeover."),
    ("mtp3.t4", "T4: waiting for the first acknowledgement of a changeback."),
    ("mtp3.t5", "T5: waiting for the second acknowledgement of a changeback."),
    (
        "sctp.association_max_retrans",
        "Association.Max.Retrans: time-outs in a row that an association survives.",
    ),
    ("sctp.associations", "Number of associations that share the messages."),
    ("sctp.congestion_control", "Rate that a window reaches which follows RFC 9260."),
    ("sctp.cwnd", "Congestion window, which stays as it is."),
    ("sctp.path_max_retrans", "Path.Max.Retrans: time-outs in a row after which a path is given up."),
    ("sctp.pf_max_retrans", "Time-outs in a row after which new messages leave a path."),
    ("sctp.rto_initial", "RTO.Initial: retransmission time-out before a round trip has been measured."),
    ("sctp.rto_max", "RTO.Max: greatest retransmission time-out."),
    ("sctp.rto_min", "RTO.Min: least retransmission time-out."),
    ("sctp.sack_delay", "Longest time for which a SACK is held back."),
    ("largest_step", "Largest step of the load that is carried."),
    ("load", "Load of each direction on Ethernet."),
];

fn meaning(name: &str) -> &'static str {
    MEANINGS.iter().find(|(of, _)| *of == name).map_or("", |(_, meaning)| meaning)
}

/// The question and its answer as `plan.json` has them. Quantities are numbers in base units. What was asked of which
/// nobody has said anything is left out.
pub fn kept(question: &Question, answer: &Answer) -> Map<String, Json> {
    let mut answers = vec![
        json!({
            "name": "load",
            "value": answer.ethernet.as_bits_per_sec(),
            "unit": "bit/s",
            "meaning": meaning("load"),
            "why": answer.case_reason,
        }),
        json!({
            "name": "largest_step",
            "value": answer.largest_step.taken.as_bits_per_sec(),
            "unit": "bit/s",
            "meaning": meaning("largest_step"),
            "why": answer.largest_step.reason,
        }),
    ];
    answers.extend(answer.settings.iter().map(|setting| {
        json!({
            "name": setting.name,
            "value": setting.value,
            "unit": unit_name(setting.unit),
            "meaning": meaning(setting.name),
            "why": setting.reason,
            "least": setting.least,
            "most": setting.most,
        })
    }));
    let refused = answer
        .impossible
        .iter()
        .map(|one| format!("not possible: {}, because {}; possible: {}", one.demand, one.why, one.possible));
    let open = answer.promises.iter().filter(|promise| promise.standing == PromiseStanding::Open);
    let open = open.map(|promise| format!("not sure: {}, {}", promise.name, promise.measure.name()));
    let mut whole = Map::new();
    whole.insert("inputs".to_owned(), Json::Object(inputs(question)));
    whole.insert("answers".to_owned(), Json::Array(answers));
    whole.insert("warnings".to_owned(), json!(refused.chain(open).collect::<Vec<_>>()));
    whole.insert("answer".to_owned(), answer_as_json(answer));
    whole
}

/// Values of the question by their paths, with units and meanings.
fn inputs(question: &Question) -> Map<String, Json> {
    let schema: Json = json_schema().parse().unwrap_or_default();
    let mut inputs = Map::new();
    let mut section = |name: &str, fields: &dyn Fn(&mut MergedOutput)| {
        let mut merged = MergedOutput::default();
        fields(&mut merged);
        for (key, value) in merged.json() {
            if value == json!([]) {
                continue;
            }
            let about = &schema["properties"][name]["properties"][&key]["description"];
            let (value, unit) = in_base_units(value);
            inputs.insert(
                format!("{name}.{key}"),
                json!({ "value": value, "unit": unit, "meaning": about.as_str().unwrap_or_default() }),
            );
        }
    };
    let part = "a question without fault is whole";
    section("path", &|merged| question.path.whole().expect(part).write_fields(merged));
    section("band", &|merged| question.band.whole().expect(part).write_fields(merged));
    section("signalling", &|merged| question.signalling.whole().expect(part).write_fields(merged));
    section("limits", &|merged| question.limits.whole().expect(part).write_fields(merged));
    section("gateway", &|merged| question.gateway.whole().expect(part).write_fields(merged));
    inputs
}

/// A quantity as a number in its base unit, and any other value as it is.
fn in_base_units(value: Json) -> (Json, &'static str) {
    let Some(text) = value.as_str() else { return (value, "") };
    if let Ok(time) = text.parse::<Duration>() {
        (json!(time.as_secs_f64()), "s")
    } else if let Ok(rate) = text.parse::<DataRate>() {
        (json!(rate.as_bits_per_sec()), "bit/s")
    } else if let Ok(size) = text.parse::<DataSize>() {
        (json!(size.as_bytes()), "B")
    } else {
        (value, "")
    }
}
