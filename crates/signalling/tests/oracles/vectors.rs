//! Messages that nobody on this project wrote, one by one: what we read of each is what tshark prints of it. That each
//! is written again as the same octets is tested beside its codec.

use bytes::Bytes;
use slantpath_sigtran::m3ua;
use slantpath_ss7::PointCodeFormat;
use slantpath_ss7::mtp3::Msu;
use slantpath_ss7::sccp;
use slantpath_testkit::{Tshark, vectors};
use slantpath_user_parts::isup::{self, CalledPartyNumber, ParameterCode};

use crate::capture;
use crate::sample::Sample;

const LAYERS: [&str; 6] = ["m2ua", "m3ua", "sua", "sccp", "isup", "mtp3"];
const VECTORS: usize = 27;

/// Each vector of a layer that is known here, which is all of them.
fn samples() -> Option<Vec<Sample>> {
    let sample = |(layer, octets): (String, Vec<u8>)| {
        let layer = LAYERS.into_iter().find(|known| *known == layer).unwrap();
        Sample::new(layer, "vector", octets)
    };
    Some(vectors::all()?.into_iter().map(sample).collect())
}

/// The called party's title, if it has one whose digits are digits.
fn called_title(message: &sccp::Message) -> String {
    let (sccp::Message::Udt { called, .. } | sccp::Message::Xudt { called, .. }) = message else {
        panic!("{message:?}")
    };
    match &called.global_title {
        Some(sccp::GlobalTitle::TranslationPlanNature { digits, .. }) => digits.to_string(),
        None => String::new(),
        Some(other) => panic!("{other:?}"),
    }
}

/// The fields of a layer, and what we read in their place.
fn reading(Sample { layer, octets, .. }: &Sample) -> (Vec<&'static str>, Vec<String>) {
    let kind = [octets[2].to_string(), octets[3].to_string()];
    match *layer {
        "m2ua" => (vec!["m2ua.message_class", "m2ua.message_type"], kind.into()),
        "sua" => (vec!["sua.message_class", "sua.message_type"], kind.into()),
        "m3ua" => {
            let message = m3ua::Message::parse(&Bytes::from(octets.clone())).unwrap();
            let label = if let m3ua::Message::Data(data) = &message {
                let data = &data.protocol_data;
                [data.opc.0.to_string(), data.dpc.0.to_string(), data.sls.0.to_string()]
            } else {
                <[String; 3]>::default()
            };
            let fields = [
                "m3ua.message_class",
                "m3ua.message_type",
                "m3ua.protocol_data_opc",
                "m3ua.protocol_data_dpc",
                "m3ua.protocol_data_sls",
            ];
            let kind = [message.kind().class.to_string(), message.kind().kind.to_string()];
            (fields.into(), kind.into_iter().chain(label).collect())
        }
        "sccp" => {
            let message = sccp::Message::parse(octets).unwrap();
            let read = vec![format!("{:#04x}", octets[0]), called_title(&message)];
            (vec!["sccp.message_type", "sccp.called.digits"], read)
        }
        "isup" => {
            let message = isup::Message::parse(octets).unwrap();
            let called = message.value(ParameterCode::CALLED_PARTY_NUMBER);
            let digits = called.map(|value| CalledPartyNumber::parse(value).unwrap().digits.to_string());
            let read = vec![
                message.kind.0.to_string(),
                message.circuit.0.to_string(),
                digits.unwrap_or_default().to_uppercase(),
            ];
            (vec!["isup.message_type", "isup.cic", "isup.called"], read)
        }
        _ => {
            let msu = Msu::parse(octets, PointCodeFormat::Itu).unwrap();
            let sccp = sccp::Message::parse(msu.user_part).unwrap();
            let label = [msu.label.opc.0, msu.label.dpc.0, msu.label.sls.0.into()];
            let read = label.iter().map(u32::to_string).chain([called_title(&sccp)]).collect();
            (vec!["mtp3.opc", "mtp3.dpc", "mtp3.sls", "sccp.called.digits"], read)
        }
    }
}

#[test]
fn every_vector_reads_as_tshark_prints_it() {
    let Some(vectors) = samples() else { return };
    assert_eq!(vectors.len(), VECTORS);
    for layer in LAYERS {
        let of_layer: Vec<Sample> = vectors.iter().filter(|vector| vector.layer == layer).cloned().collect();
        let (fields, _) = reading(&of_layer[0]);
        let file = capture::of(&of_layer);
        let tshark = Tshark::of_octets(&format!("vectors-{layer}"), &file);
        let Some(rows) = tshark.rows(&fields) else { return };
        assert_eq!(rows.len(), of_layer.len());
        for (vector, row) in of_layer.iter().zip(rows) {
            assert_eq!(reading(vector).1, row, "{vector:?}");
        }
    }
}
