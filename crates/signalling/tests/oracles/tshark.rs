//! tshark, and what it has to say of our capture.

use std::collections::BTreeSet;

use slantpath_testkit::Tshark;
use slantpath_user_parts::tcap;

use crate::sample::{DPC, FREE_SUBSYSTEM, OPC, SLS, Sample};
use crate::{capture, golden};

/// Reads fields of our capture with tshark: TCAP of a subsystem of its own, Q.931 rather than GSM's layers in IUA,
/// checksums that are looked at.
fn read(name: &str, file: &[u8], fields: &[&str]) -> Option<Vec<Vec<String>>> {
    Tshark::of_octets(name, file)
        .prefer(&format!("tcap.ssn:{}", FREE_SUBSYSTEM.0))
        .prefer("iua.use_gsm_sapi_values:FALSE")
        .prefer("sctp.checksum:CRC-32C")
        .prefer("ip.check_checksum:TRUE")
        .rows(fields)
}

/// Names that tshark gives each packet.
pub(crate) fn names(file: &[u8]) -> Option<Vec<String>> {
    let rows = read("names", file, &["_ws.col.Info"])?;
    Some(rows.into_iter().map(|row| row.concat()).collect())
}

/// Reads the number in a field that may have a sign of its base before it.
fn number(field: &str) -> u32 {
    let parsed = match field.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => field.parse(),
    };
    parsed.unwrap_or_else(|error| panic!("`{field}`: {error}"))
}

#[test]
fn every_message_has_the_name_that_tshark_gives_it() {
    let samples = golden::samples();
    let Some(names) = names(&capture::of(&samples)) else { return };
    let kept = golden::names();
    assert_eq!(names.len(), samples.len());
    for ((sample, name), kept) in samples.iter().zip(&names).zip(&kept) {
        assert_eq!(name, kept, "{sample:?}");
    }
}

/// Severity of what tshark calls a warning; notes and chats are below it.
const WARNING: u32 = 0x0060_0000;

#[test]
fn tshark_has_no_complaint() {
    let samples = golden::samples();
    let fields = [
        "_ws.malformed",
        "_ws.expert.severity",
        "_ws.expert.message",
        "sctp.checksum.status",
        "ip.checksum.status",
    ];
    let Some(rows) = read("complaints", &capture::of(&samples), &fields) else { return };
    assert_eq!(rows.len(), samples.len());
    for (sample, row) in samples.iter().zip(rows) {
        let [malformed, severities, messages, sctp, ip] = &row[..] else { panic!("{row:?}") };
        assert_eq!((malformed.as_str(), sctp.as_str(), ip.as_str()), ("", "1", "1"), "{sample:?}: {row:?}");
        let worst = severities.split(',').filter(|severity| !severity.is_empty()).map(number).max();
        if (sample.layer, sample.name.as_str()) == ("scmg", "SSC") {
            // It has printed every field of the message when it says so: its dissector runs on into the branch for
            // unknown messages.
            assert_eq!(messages, "Unknown message");
        } else {
            assert!(worst.unwrap_or_default() < WARNING, "{sample:?}: {row:?}");
        }
    }
}

/// A layer; the fields that hold its class and type, or its type alone, each with the octet and the bits that they
/// show; and the prefix of the label's fields where the layer has one.
type Types = (&'static str, &'static [(&'static str, usize, u8)], Option<&'static str>);

const TYPES: &[Types] = &[
    ("m3ua", &[("m3ua.message_class", 2, 0xff), ("m3ua.message_type", 3, 0xff)], None),
    ("m2ua", &[("m2ua.message_class", 2, 0xff), ("m2ua.message_type", 3, 0xff)], None),
    ("sua", &[("sua.message_class", 2, 0xff), ("sua.message_type", 3, 0xff)], None),
    ("iua", &[("iua.message_class", 2, 0xff), ("iua.message_type", 3, 0xff)], None),
    ("m2pa", &[("m2pa.class", 2, 0xff), ("m2pa.type", 3, 0xff)], None),
    ("sccp", &[("sccp.message_type", 0, 0xff)], Some("m3ua.protocol_data_")),
    ("scmg", &[("sccpmg.message_type", 0, 0xff)], Some("m3ua.protocol_data_")),
    ("isup", &[("isup.message_type", 2, 0xff)], Some("m3ua.protocol_data_")),
    ("mtp3", &[("mtp3.service_indicator", 0, 0xf)], Some("mtp3.")),
];

#[test]
fn class_type_and_label_are_what_tshark_prints() {
    let label = |prefix: &str| ["opc", "dpc", "sls"].map(|field| format!("{prefix}{field}"));
    let mut fields: Vec<String> =
        TYPES.iter().flat_map(|(_, types, _)| types.iter().map(|(field, ..)| (*field).to_owned())).collect();
    fields.extend(["m3ua.protocol_data_", "mtp3."].into_iter().flat_map(label));
    let names: Vec<&str> = fields.iter().map(String::as_str).collect();
    let samples = golden::samples();
    let Some(rows) = read("types", &capture::of(&samples), &names) else { return };
    assert_eq!(rows.len(), samples.len());
    for (sample, row) in samples.iter().zip(rows) {
        let Some((_, types, prefix)) = TYPES.iter().find(|(layer, ..)| *layer == sample.layer) else {
            continue;
        };
        let column = |field: &str| number(&row[names.iter().position(|name| *name == field).unwrap()]);
        for (field, at, mask) in *types {
            assert_eq!(column(field), u32::from(sample.octets[*at] & mask), "{field}: {sample:?}");
        }
        if let Some(prefix) = prefix {
            let read = label(prefix).map(|field| column(&field));
            assert_eq!(read, [OPC.0, DPC.0, SLS.0.into()], "{sample:?}");
        }
    }
}

#[test]
fn tshark_finds_each_kind_of_message_and_component_of_tcap() {
    let samples: Vec<Sample> =
        golden::samples().into_iter().filter(|sample| sample.layer == "tcap").collect();
    let fields = [
        "tcap.begin_element",
        "tcap.continue_element",
        "tcap.end_element",
        "tcap.abort_element",
        "tcap.unidirectional_element",
        "data.data",
    ];
    let Some(rows) = read("tcap", &capture::of(&samples), &fields) else { return };
    let names = ["Begin", "Continue", "End", "Abort", "Unidirectional"];
    let mut kinds = BTreeSet::new();
    for (sample, row) in samples.iter().zip(&rows) {
        let found: Vec<&str> =
            names.iter().zip(row).filter(|(_, field)| !field.is_empty()).map(|(name, _)| *name).collect();
        assert_eq!(found, [sample.name.as_str()], "{row:?}");
        // Nobody reads the operations of this subsystem: tshark takes the components apart and shows each as data.
        let components = match tcap::Message::parse(&sample.octets).unwrap() {
            tcap::Message::Begin { components, .. }
            | tcap::Message::Continue { components, .. }
            | tcap::Message::End { components, .. }
            | tcap::Message::Unidirectional { components, .. } => components.len(),
            tcap::Message::Abort { .. } => 0,
        };
        let shown: Vec<&str> = row[names.len()].split(',').filter(|data| !data.is_empty()).collect();
        assert_eq!(shown.len(), components, "{row:?}");
        kinds.extend(shown.iter().map(|data| data[..2].to_owned()));
    }
    // Invoke, result, error, reject and the part of a result.
    assert_eq!(kinds, ["a1", "a2", "a3", "a4", "a7"].map(str::to_owned).into());
}

#[test]
fn tshark_reads_the_digits_of_the_called_party() {
    let samples: Vec<Sample> = golden::samples().into_iter().filter(|sample| sample.name == "IAM").collect();
    let fields = ["isup.called", "isup.calling", "isup.cic"];
    let Some(rows) = read("digits", &capture::of(&samples), &fields) else { return };
    assert_eq!(rows, [["4912345678", "498912345", "291"]]);
    let samples: Vec<Sample> =
        golden::samples().into_iter().filter(|sample| ["UDT", "LUDTS"].contains(&&*sample.name)).collect();
    let Some(rows) = read("titles", &capture::of(&samples), &["sccp.called.digits"]) else { return };
    assert_eq!(rows, [["49123456789"], ["49123456789"]]);
}
