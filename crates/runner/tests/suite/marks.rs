//! ECN of both transports over a queue that marks, as an independent dissector reads it (tshark).
use std::collections::BTreeSet;

use slantpath_results::CellValue;
use slantpath_testkit::Tshark;

use crate::project;

const FIELDS: [&str; 13] = [
    "frame.interface_id",
    "frame.comment",
    "ip.dsfield.ecn",
    "tcp.flags.syn",
    "tcp.flags.ack",
    "tcp.flags.ece",
    "tcp.flags.cwr",
    "sctp.chunk_type",
    "sctp.parameter_type",
    "sctp.data_tsn_raw",
    "sctp.ecne_lowest_tsn",
    "sctp.cwr_lowest_tsn",
    "_ws.expert.severity",
];

/// A packet as tshark reads it.
struct Row(Vec<String>);

impl Row {
    fn text(&self, field: &str) -> &str {
        &self.0[FIELDS.iter().position(|known| *known == field).unwrap()]
    }

    /// Gives the values of a field, one for each time that it occurs.
    fn all(&self, field: &str) -> impl Iterator<Item = &str> {
        self.text(field).split(',').filter(|text| !text.is_empty())
    }

    fn is(&self, field: &str) -> bool {
        matches!(self.text(field), "1" | "True")
    }

    fn has_chunk(&self, number: &str) -> bool {
        self.all("sctp.chunk_type").any(|chunk| chunk == number)
    }

    /// Tells whether the queue marked it on its way to the receivers.
    fn was_marked(&self) -> bool {
        self.text("frame.comment") == "marked"
    }
}

#[test]
fn a_dissector_reads_how_ends_agree_on_marks_echo_them_and_answer() {
    let overrides = ["scenario.duration=12 s", "scenario.warm_up=0 s", "probes.captures=[\"bottleneck\"]"];
    let output = project::run_file("ecn.toml", &overrides);
    let marked: u64 = {
        let column = output.table("links").unwrap().column("marked_packets").unwrap();
        let count = |row| if let CellValue::U64(count) = column.at(row) { count } else { 0 };
        (0..column.len()).map(count).sum()
    };
    let Some(rows) = Tshark::of_octets("ecn", &output.captures[0].pcapng).rows(&FIELDS) else { return };
    let rows: Vec<Row> = rows.into_iter().map(Row).collect();
    // 8388608 is an error: a chunk or a packet that is malformed among them.
    let errors =
        rows.iter().filter(|row| row.all("_ws.expert.severity").any(|severity| severity == "8388608"));
    assert_eq!(errors.count(), 0);

    let of_queue = || rows.iter().filter(|row| row.was_marked());
    assert!(marked > 20, "{marked}");
    assert_eq!(of_queue().count() as u64, marked);
    assert!(of_queue().all(|row| row.text("ip.dsfield.ecn") == "3"));
    // Nothing but what carries data may be marked: control chunks, SACKs, SYNs and ACKs say that they may not.
    for row in rows.iter().filter(|row| row.text("ip.dsfield.ecn") != "0") {
        assert_eq!(row.text("frame.interface_id"), "0", "receivers send no data");
    }

    // TCP: the SYN asks with both flags, the SYN-ACK answers with one (RFC 3168, section 6.1.1).
    let flags = |row: &Row| ["syn", "ack", "ece", "cwr"].map(|flag| row.is(&format!("tcp.flags.{flag}")));
    assert_eq!(rows.iter().filter(|row| flags(row) == [true, false, true, true]).count(), 2);
    assert_eq!(rows.iter().filter(|row| flags(row) == [true, true, true, false]).count(), 2);
    let is_back = |row: &&Row| row.text("frame.interface_id") == "1";
    assert!(
        rows.iter().filter(is_back).any(|row| flags(row) == [false, true, true, false]),
        "a mark is echoed"
    );
    let answers = rows.iter().filter(|row| !is_back(row));
    assert!(answers.filter(|row| !flags(row)[0] && flags(row)[3]).count() >= 2, "each end has answered");

    // SCTP: both chunks of the handshake have the parameter (RFC 4960, appendix A, section A.1).
    for chunk in ["1", "2"] {
        let of_handshake: Vec<&Row> = rows.iter().filter(|row| row.has_chunk(chunk)).collect();
        assert_eq!(of_handshake.len(), 2);
        assert!(of_handshake.iter().all(|row| row.all("sctp.parameter_type").any(|kind| kind == "0x8000")));
    }
    let tsns = |field: &str, wanted: &dyn Fn(&Row) -> bool| -> BTreeSet<String> {
        rows.iter().filter(|row| wanted(row)).flat_map(|row| row.all(field).map(str::to_owned)).collect()
    };
    let of_marked = tsns("sctp.data_tsn_raw", &Row::was_marked);
    let echoed = tsns("sctp.ecne_lowest_tsn", &|row| row.has_chunk("12"));
    let answered = tsns("sctp.cwr_lowest_tsn", &|row| row.has_chunk("13"));
    assert!(echoed.len() > 3, "{echoed:?}");
    assert!(echoed.is_subset(&of_marked), "{echoed:?} were echoed, {of_marked:?} were marked");
    assert!(
        answered.is_subset(&echoed) && answered.len() > 3,
        "{answered:?} were answered, {echoed:?} were echoed"
    );
}
