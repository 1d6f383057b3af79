//! Addresses of sockets, and associations that are begun and looked at by options.

use super::*;
use crate::layout::Told;

const BINDX_ADD: i32 = 100;
const CONNECTX: i32 = 110;
const GET_PEER_ADDRS: i32 = 108;
const GET_LOCAL_ADDRS: i32 = 109;
const STATUS: i32 = 14;
const PRIMARY_ADDR: i32 = 6;

fn v6(end: usize) -> SocketAddr {
    SocketAddr::new(format!("2001:db8::{}", end + 1).parse().unwrap(), PORT)
}

#[test]
fn several_addresses_are_bound_and_connected_to_and_both_ends_list_them() {
    let mut pair = Pair::new();
    let listener = pair.open(1, Style::OneToOne, requests::Family::V6);
    let v4 = SocketAddr::new("::ffff:10.0.0.2".parse().unwrap(), PORT);
    let own = Told::default().address(v4).address(v6(1)).0;
    pair.set(1, listener, BINDX_ADD, &own).unwrap();
    pair.done(1, listener, requests::Request::Listen { backlog: 1 }).unwrap();
    let list = [Told::default().i32(0).u32(2).0, own.clone()].concat();
    assert_eq!(pair.get(1, listener, GET_LOCAL_ADDRS, &[0; 8]), Ok(list));

    let caller = pair.open(0, Style::OneToOne, requests::Family::V6);
    let request =
        requests::Request::SetOption { level: SCTP, name: CONNECTX, value: own.clone(), waits: true };
    assert_eq!(pair.ask(0, caller, request), None);
    pair.exchange();
    let news = pair.news(0);
    let Some((_, News::Replied(_, answered))) = news.last() else { panic!("{news:?}") };
    assert!(answered.reply.error.is_none() && answered.reply.number > 2, "{answered:?}");
    let number = answered.reply.number;
    let peers = pair.get(0, caller, GET_PEER_ADDRS, &[0; 8]).unwrap();
    assert_eq!(peers[4..], [Told::default().u32(2).0, own].concat());
    assert!(pair.get(0, caller, GET_LOCAL_ADDRS, &[0; 8]).is_ok());

    let status = pair.get(0, caller, STATUS, &[0; 176]).unwrap();
    assert_eq!(status.len(), 176);
    assert_eq!(status[..8], Told::default().i32(number).i32(4).0, "established");
    let primary = pair.get(0, caller, PRIMARY_ADDR, &[0; 132]).unwrap();
    assert_eq!(primary[4..], Told::default().storage(Some(v4)).0);
    pair.pass(Duration::from_secs(2));
    let wanted = Told::default().i32(0).storage(Some(v6(1))).0;
    pair.set(0, caller, PRIMARY_ADDR, &wanted).unwrap();
    let primary = pair.get(0, caller, PRIMARY_ADDR, &[0; 132]).unwrap();
    assert_eq!(primary[4..], wanted[4..]);
    let nobody = Told::default().i32(0).storage(Some(at(0))).0;
    assert_eq!(pair.set(0, caller, PRIMARY_ADDR, &nobody), Err(Errno::EINVAL));
}
