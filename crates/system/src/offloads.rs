//! Work that an interface takes from the kernel, as `ethtool --offload` shows it, and how that is switched off.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};

use nix::errno::Errno;
use nix::libc;
use rustix::net::{AddressFamily, SocketFlags, SocketType};

use crate::interface;

/// Offloads of SCTP. A packet socket cannot describe them. The kernel drops packets of SCTP that are still to be cut
/// into segments, and a checksum that is left to do looks like one of TCP.
pub const OF_SCTP: [&str; 2] = ["tx-checksum-sctp", "tx-sctp-segmentation"];

/// Commands of SIOCETHTOOL: ETHTOOL_GSTRINGS, ETHTOOL_GSSET_INFO, ETHTOOL_GFEATURES and ETHTOOL_SFEATURES.
const GET_STRINGS: u32 = 0x1b;
const GET_SET_INFO: u32 = 0x37;
const GET_FEATURES: u32 = 0x3a;
const SET_FEATURES: u32 = 0x3b;
const SIOCETHTOOL: libc::Ioctl = 0x8946;
/// Set of the names of features (ETH_SS_FEATURES), and bytes of a name (ETH_GSTRING_LEN).
const FEATURES: u32 = 4;
const NAME_LEN: usize = 32;
/// More features than any kernel has.
const MOST: usize = 1_024;

/// Has the kernel do these things itself for an interface of the calling thread's network namespace.
pub fn switch_off(name: &str, features: &[&str]) -> io::Result<()> {
    let interface = Interface::open(name)?;
    let names = interface.features()?;
    let mut blocks = vec![0_u32; names.len().div_ceil(32)];
    for &feature in features {
        let bit = position(&names, feature, name)?;
        blocks[bit / 32] |= 1 << (bit % 32);
    }
    // `struct ethtool_sfeatures`: of each block the bits that count, and their values, which are all 0.
    let mut request = words(&[SET_FEATURES, narrow(blocks.len())?]);
    request.extend(blocks.iter().flat_map(|&block| words(&[block, 0])));
    interface.ask(&mut request)
}

/// Tells if an interface of the calling thread's network namespace does this.
pub fn is_on(name: &str, feature: &str) -> io::Result<bool> {
    let interface = Interface::open(name)?;
    let names = interface.features()?;
    let bit = position(&names, feature, name)?;
    let blocks = names.len().div_ceil(32);
    // `struct ethtool_gfeatures`: of each block those that can be had, are asked for, are on and never change.
    let mut answer = words(&[GET_FEATURES, narrow(blocks)?]);
    answer.resize(answer.len() + blocks * 16, 0);
    interface.ask(&mut answer)?;
    let active = word_at(&answer, 8 + bit / 32 * 16 + 8);
    Ok(active >> (bit % 32) & 1 == 1)
}

fn position(names: &[String], feature: &str, interface: &str) -> io::Result<usize> {
    names.iter().position(|name| name == feature).ok_or_else(|| {
        let told =
            format!("`{feature}` of the interface {interface} is not known: `ethtool -k` has the names");
        io::Error::new(io::ErrorKind::InvalidInput, told)
    })
}

/// Interface by its name, and a socket of its network namespace.
#[derive(Debug)]
struct Interface<'a> {
    socket: OwnedFd,
    name: &'a str,
}

impl<'a> Interface<'a> {
    fn open(name: &'a str) -> io::Result<Self> {
        let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
        let socket = rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
        interface::index_of(&socket, name)?;
        Ok(Self { socket, name })
    }

    /// Names of all features that the kernel knows.
    fn features(&self) -> io::Result<Vec<String>> {
        // `struct ethtool_sset_info`: a mask of 64 bits, and a number for each bit that is set.
        let mut info = words(&[GET_SET_INFO, 0]);
        info.extend((1_u64 << FEATURES).to_ne_bytes());
        info.extend(words(&[0]));
        self.ask(&mut info)?;
        let number = usize::try_from(word_at(&info, 16)).unwrap_or(usize::MAX);
        if number > MOST {
            return Err(io::Error::other(format!("the kernel knows {number} features: {MOST} at most")));
        }
        // `struct ethtool_gstrings`.
        let mut strings = words(&[GET_STRINGS, FEATURES, narrow(number)?]);
        let start = strings.len();
        // The kernel writes as many as it has, which does not change while it runs.
        strings.resize(start + number * NAME_LEN, 0);
        self.ask(&mut strings)?;
        let names = strings[start..].chunks_exact(NAME_LEN);
        Ok(names.map(name_of).collect())
    }

    /// Gives a command to the kernel, which writes its answer over it.
    fn ask(&self, command: &mut [u8]) -> io::Result<()> {
        let mut name = [0; libc::IFNAMSIZ];
        for (place, &octet) in name.iter_mut().zip(self.name.as_bytes()) {
            // A character is signed on some machines, and not on others.
            *place = libc::c_char::from_ne_bytes([octet]);
        }
        let mut request = libc::ifreq {
            ifr_name: name,
            ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_data: command.as_mut_ptr().cast() },
        };
        #[expect(unsafe_code, reason = "no library has a safe call")]
        // SAFETY: The kernel reads the request, and reads and writes the command that it points to: both live through
        // the call, and the callers leave the room that each command's answer takes.
        let result = unsafe { libc::ioctl(self.socket.as_raw_fd(), SIOCETHTOOL, &raw mut request) };
        Errno::result(result)?;
        Ok(())
    }
}

fn name_of(octets: &[u8]) -> String {
    let end = octets.iter().position(|&octet| octet == 0).unwrap_or(octets.len());
    String::from_utf8_lossy(&octets[..end]).into_owned()
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// A word of a command's answer: 0 behind its end.
fn word_at(octets: &[u8], at: usize) -> u32 {
    octets.get(at..).and_then(|rest| rest.first_chunk()).copied().map_or(0, u32::from_ne_bytes)
}

fn narrow(number: usize) -> io::Result<u32> {
    u32::try_from(number).map_err(|_| io::ErrorKind::InvalidInput.into())
}
