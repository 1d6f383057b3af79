//! Round trips and refusals of the message codec.

use super::*;
use crate::asp::{Status, TrafficMode};
use crate::m3ua::{DeregistrationStatus, KeyDestination, ProtocolData, RegistrationStatus};
use proptest::prelude::*;
use slantpath_ss7::mtp3::Sls;

fn any_code() -> impl Strategy<Value = PointCode> {
    (0_u32..1 << 24).prop_map(PointCode)
}

fn some_octets() -> impl Strategy<Value = Option<Vec<u8>>> {
    proptest::option::of(proptest::collection::vec(any::<u8>(), 0..30))
}

fn some_contexts() -> impl Strategy<Value = Vec<u32>> {
    proptest::collection::vec(any::<u32>(), 0..4)
}

fn some_mode() -> impl Strategy<Value = Option<TrafficMode>> {
    let modes = vec![TrafficMode::Override, TrafficMode::Loadshare, TrafficMode::Broadcast];
    proptest::option::of(proptest::sample::select(modes))
}

fn any_affected() -> impl Strategy<Value = AffectedDestinations> {
    let codes = proptest::collection::vec((any::<u8>(), any_code()), 1..5);
    (any::<Option<u32>>(), some_contexts(), codes, some_octets()).prop_map(
        |(network_appearance, routing_contexts, point_codes, info)| AffectedDestinations {
            network_appearance,
            routing_contexts,
            point_codes,
            info,
        },
    )
}

fn any_data() -> impl Strategy<Value = Message> {
    let data = (any::<(u32, u32)>(), any::<[u8; 4]>(), proptest::collection::vec(any::<u8>(), 0..280));
    let data = data.prop_map(|((opc, dpc), [si, ni, mp, sls], user_data)| ProtocolData {
        opc: PointCode(opc),
        dpc: PointCode(dpc),
        service_indicator: si,
        network_indicator: ni,
        priority: mp,
        sls: Sls(sls),
        user_data: user_data.into(),
    });
    (any::<[Option<u32>; 3]>(), data).prop_map(|(numbers, protocol_data)| {
        let [network_appearance, routing_context, correlation_id] = numbers;
        Message::Data(Data { network_appearance, routing_context, protocol_data, correlation_id })
    })
}

fn any_registration() -> impl Strategy<Value = Message> {
    let destination = (
        any_code(),
        proptest::collection::vec(any::<u8>(), 0..4),
        proptest::collection::vec(any_code(), 0..3),
    )
        .prop_map(|(dpc, service_indicators, opcs)| KeyDestination { dpc, service_indicators, opcs });
    let destinations = proptest::collection::vec(destination, 1..3);
    let key = (any::<u32>(), any::<[Option<u32>; 2]>(), any::<Option<u32>>(), destinations).prop_map(
        |(local_identifier, [routing_context, network_appearance], traffic_mode, destinations)| RoutingKey {
            local_identifier,
            routing_context,
            traffic_mode,
            network_appearance,
            destinations,
            others: Vec::new(),
        },
    );
    let result = any::<[u32; 3]>().prop_map(|[local_identifier, status, routing_context]| {
        RegistrationResult { local_identifier, status: RegistrationStatus(status), routing_context }
    });
    let deregistered = any::<[u32; 2]>().prop_map(|[routing_context, status]| DeregistrationResult {
        routing_context,
        status: DeregistrationStatus(status),
    });
    prop_oneof![
        proptest::collection::vec(key, 1..3).prop_map(|keys| Message::RegReq { keys }),
        proptest::collection::vec(result, 1..3).prop_map(|results| Message::RegRsp { results }),
        some_contexts().prop_map(|routing_contexts| Message::DeregReq { routing_contexts }),
        proptest::collection::vec(deregistered, 1..3).prop_map(|results| Message::DeregRsp { results }),
    ]
}

fn any_asp() -> impl Strategy<Value = AspMessage<M3ua>> {
    let scope = || some_contexts().prop_map(RoutingContexts);
    let identified = || (any::<Option<u32>>(), some_octets());
    let traffic = || (some_mode(), scope(), some_octets());
    let place = (any::<Option<u32>>(), proptest::collection::vec((any::<u8>(), any_code()), 0..3))
        .prop_map(|(network_appearance, point_codes)| AffectedPlace { network_appearance, point_codes });
    let status = (any::<u16>(), any::<u16>()).prop_map(|(kind, information)| Status { kind, information });
    prop_oneof![
        identified().prop_map(|(asp_identifier, info)| AspMessage::AspUp { asp_identifier, info }),
        identified().prop_map(|(asp_identifier, info)| AspMessage::AspUpAck { asp_identifier, info }),
        some_octets().prop_map(|info| AspMessage::AspDown { info }),
        some_octets().prop_map(|info| AspMessage::AspDownAck { info }),
        some_octets().prop_map(|data| AspMessage::Beat { data }),
        some_octets().prop_map(|data| AspMessage::BeatAck { data }),
        traffic().prop_map(|(traffic_mode, scope, info)| AspMessage::AspActive {
            traffic_mode,
            scope,
            labels: (),
            info
        }),
        traffic().prop_map(|(traffic_mode, scope, info)| AspMessage::AspActiveAck {
            traffic_mode,
            scope,
            info
        }),
        (scope(), some_octets()).prop_map(|(scope, info)| AspMessage::AspInactive { scope, info }),
        (scope(), some_octets()).prop_map(|(scope, info)| AspMessage::AspInactiveAck { scope, info }),
        (status, any::<Option<u32>>(), scope(), some_octets()).prop_map(
            |(status, asp_identifier, scope, info)| AspMessage::Ntfy { status, asp_identifier, scope, info }
        ),
        (any::<u32>(), scope(), place, some_octets()).prop_map(|(code, scope, evidence, diagnostic)| {
            AspMessage::Err { code: ErrorCode(code), scope, evidence, diagnostic }
        }),
    ]
}

fn any_message() -> impl Strategy<Value = Message> {
    prop_oneof![
        any_data(),
        any_registration(),
        any_affected().prop_map(Message::Duna),
        any_affected().prop_map(Message::Dava),
        any_affected().prop_map(Message::Daud),
        any_affected().prop_map(Message::Drst),
        (any_affected(), proptest::option::of(any_code()), any::<Option<u8>>()).prop_map(
            |(affected, concerned, congestion_level)| Message::Scon { affected, concerned, congestion_level }
        ),
        (any_affected(), any::<u16>(), any::<u16>()).prop_map(|(affected, cause, user)| Message::Dupu {
            affected,
            cause: UnavailabilityCause { cause, user }
        }),
        any_asp().prop_map(Message::Asp),
    ]
}

#[test]
fn a_message_without_what_it_must_have_names_the_parameter() {
    let duna = [1, 0, 2, 1, 0, 0, 0, 8];
    assert_eq!(
        Message::parse(&duna.to_vec().into()),
        Err(MessageParseError::MissingParameter(common::tag::AFFECTED_POINT_CODE))
    );
    let empty = [1, 0, 2, 1, 0, 0, 0, 12, 0, 18, 0, 4];
    assert_eq!(
        Message::parse(&empty.to_vec().into()),
        Err(MessageParseError::InvalidParameterValue(common::tag::AFFECTED_POINT_CODE))
    );
    let data = [1, 0, 1, 1, 0, 0, 0, 8];
    assert_eq!(
        Message::parse(&data.to_vec().into()),
        Err(MessageParseError::MissingParameter(tag::PROTOCOL_DATA))
    );
}

#[test]
fn unknown_classes_and_types_are_told_apart() {
    let kind = MessageKind { class: 5, kind: 1 };
    assert_eq!(
        Message::parse(&Bytes::from_static(&[1, 0, 5, 1, 0, 0, 0, 8])),
        Err(MessageParseError::UnsupportedClass(kind))
    );
    let kind = MessageKind { class: 3, kind: 9 };
    assert_eq!(
        Message::parse(&Bytes::from_static(&[1, 0, 3, 9, 0, 0, 0, 8])),
        Err(MessageParseError::UnsupportedType(kind))
    );
}

proptest! {
    #[test]
    fn messages_round_trip(message in any_message()) {
        let mut octets = Vec::new();
        message.emit(&mut octets);
        prop_assert_eq!(octets.len() % 4, 0);
        prop_assert_eq!(Message::parse(&octets.clone().into()), Ok(message));
    }

    #[test]
    fn whatever_reads_as_a_message_can_be_written_as_it_was(message in any_message(), flips: Vec<(usize, u8)>) {
        let mut octets = Vec::new();
        message.emit(&mut octets);
        for (at, bits) in flips {
            let at = at % octets.len();
            octets[at] ^= bits;
        }
        if let Ok(read) = Message::parse(&octets.clone().into()) {
            let mut written = Vec::new();
            read.emit(&mut written);
            let layout = common::MessageLayout::of(&octets, &written).unwrap();
            prop_assert_eq!(layout.apply(&written), Ok(octets));
        }
    }

    #[test]
    fn any_octets_give_a_message_or_an_error(mut octets: Vec<u8>, class in 0_u8..10, kind in 0_u8..8) {
        let _ = Message::parse(&octets.clone().into());
        if octets.len() >= 8 {
            let len = u32::try_from(octets.len()).unwrap().to_be_bytes();
            octets[..8].copy_from_slice(&[1, 0, class, kind, len[0], len[1], len[2], len[3]]);
            let _ = Message::parse(&octets.clone().into());
        }
    }
}
