//! Program of the kernel's filter: which calls are notified.

use std::ops::Range;

use nix::libc;

/// Test of a call's arguments. They are taken as the kernel takes an `int`: by their lower 32 bits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallTest {
    /// Whatever arguments it has.
    Always,
    /// An argument that is at least this.
    AtLeast {
        /// Index of the argument that is tested.
        argument: u8,
        /// Least number that it has.
        least: u32,
    },
    /// An argument within a range of numbers.
    Within {
        /// Index of the argument that is tested.
        argument: u8,
        /// First number of the range.
        first: u32,
        /// Number behind the last.
        end: u32,
    },
    /// An argument with certain bits.
    Masked {
        /// Index of the argument that is tested.
        argument: u8,
        /// Bits that are looked at.
        mask: u32,
        /// Number that they make.
        value: u32,
    },
}

impl CallTest {
    /// Test that an argument is within a range of numbers.
    pub fn within(argument: u8, range: &Range<u32>) -> Self {
        Self::Within { argument, first: range.start, end: range.end }
    }
}

/// Calls that are notified.
#[derive(Clone, Debug)]
pub struct CallFilter {
    program: Vec<libc::sock_filter>,
}

// linux/bpf_common.h, of which a filter of calls may use these.
const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const IF_EQUAL: u16 = 0x15;
const IF_AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;
// struct seccomp_data of linux/seccomp.h: number, architecture, instruction, six arguments of 64 bits.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;
const ALLOW: u32 = 0x7fff_0000;
const NOTIFY: u32 = 0x7fc0_0000;

/// The architecture's own name in linux/audit.h.
const OWN_ARCHITECTURE: u32 = if cfg!(target_arch = "x86_64") {
    0xc000_003e
} else if cfg!(target_arch = "aarch64") {
    0xc000_00b7
} else {
    // No call has it: all pass.
    0
};

impl CallFilter {
    /// Filter that notifies a call by its number if any of its tests holds.
    pub fn new(calls: impl IntoIterator<Item = (u32, Vec<CallTest>)>) -> Self {
        Self { program: program(OWN_ARCHITECTURE, calls.into_iter().collect()) }
    }

    /// True if calls of this architecture can be notified.
    pub const IS_KNOWN: bool = OWN_ARCHITECTURE != 0;

    pub(super) fn program(&self) -> &[libc::sock_filter] {
        &self.program
    }
}

const fn step(code: u16, number: u32) -> libc::sock_filter {
    libc::sock_filter { code, jt: 0, jf: 0, k: number }
}

fn jump(code: u16, number: u32, yes: usize, no: usize) -> libc::sock_filter {
    let short = |steps: usize| u8::try_from(steps).expect("a filter of few calls has short jumps");
    libc::sock_filter { code, jt: short(yes), jf: short(no), k: number }
}

fn program(architecture: u32, mut calls: Vec<(u32, Vec<CallTest>)>) -> Vec<libc::sock_filter> {
    calls.sort();
    // Calls with the same tests share them.
    let mut tests: Vec<&[CallTest]> = calls.iter().map(|(_, tests)| &**tests).collect();
    tests.sort();
    tests.dedup();
    let blocks: Vec<Vec<libc::sock_filter>> = tests.iter().map(|tests| block(tests)).collect();
    let mut starts = Vec::new();
    let mut length = 0;
    for block in &blocks {
        starts.push(length);
        length += block.len();
    }
    let calls: Vec<(u32, usize)> = calls
        .iter()
        .map(|(number, own)| (*number, starts[tests.iter().position(|other| other == own).expect("kept")]))
        .collect();
    // The architecture, the number, the search, its end without a call, the tests.
    let mut all = vec![
        step(LOAD, ARCHITECTURE),
        jump(IF_EQUAL, architecture, 1, 0),
        step(RETURN, ALLOW),
        step(LOAD, NUMBER),
    ];
    let search = search(&calls, 0);
    all.extend(search);
    all.push(step(RETURN, ALLOW));
    all.extend(blocks.into_iter().flatten());
    all
}

/// Search for a number by halves; `behind` are the steps between its end and the end of the whole search. Each call has
/// the step at which its tests start.
fn search(calls: &[(u32, usize)], behind: usize) -> Vec<libc::sock_filter> {
    match calls {
        [] => Vec::new(),
        // Past the end of the search stands the step that allows.
        [(number, start)] => vec![jump(IF_EQUAL, *number, behind + 1 + start, behind)],
        _ => {
            let (lower, upper) = calls.split_at(calls.len() / 2);
            let upper_steps = search(upper, behind);
            let lower_steps = search(lower, behind + upper_steps.len());
            let mut all = vec![jump(IF_AT_LEAST, upper[0].0, lower_steps.len(), 0)];
            all.extend(lower_steps);
            all.extend(upper_steps);
            all
        }
    }
}

fn block(tests: &[CallTest]) -> Vec<libc::sock_filter> {
    let mut all = Vec::new();
    for test in tests {
        let argument = |index: u8| step(LOAD, ARGUMENTS + 8 * u32::from(index));
        match test {
            CallTest::Always => all.push(step(RETURN, NOTIFY)),
            CallTest::AtLeast { argument: index, least } => {
                all.extend([argument(*index), jump(IF_AT_LEAST, *least, 0, 1), step(RETURN, NOTIFY)]);
            }
            CallTest::Within { argument: index, first, end } => all.extend([
                argument(*index),
                jump(IF_AT_LEAST, *first, 0, 2),
                jump(IF_AT_LEAST, *end, 1, 0),
                step(RETURN, NOTIFY),
            ]),
            CallTest::Masked { argument: index, mask, value } => all.extend([
                argument(*index),
                step(AND, *mask),
                jump(IF_EQUAL, *value, 0, 1),
                step(RETURN, NOTIFY),
            ]),
        }
    }
    all.push(step(RETURN, ALLOW));
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ARCH: u32 = 0xc000_003e;

    /// Action of the kernel by the program; `None` if it is no program.
    fn run(
        program: &[libc::sock_filter],
        architecture: u32,
        number: u32,
        arguments: [u64; 6],
    ) -> Option<u32> {
        let (mut at, mut accumulator) = (0, 0);
        loop {
            let step = program.get(at)?;
            at += 1;
            match step.code {
                LOAD if step.k == NUMBER => accumulator = number,
                LOAD if step.k == ARCHITECTURE => accumulator = architecture,
                LOAD => {
                    let index = usize::try_from((step.k - ARGUMENTS) / 8).ok()?;
                    accumulator = u32::try_from(arguments.get(index)? & 0xffff_ffff).ok()?;
                }
                AND => accumulator &= step.k,
                IF_EQUAL => at += usize::from(if accumulator == step.k { step.jt } else { step.jf }),
                IF_AT_LEAST => at += usize::from(if accumulator >= step.k { step.jt } else { step.jf }),
                RETURN => return Some(step.k),
                _ => return None,
            }
        }
    }

    fn holds(test: &CallTest, arguments: [u64; 6]) -> bool {
        let argument = |index: u8| u32::try_from(arguments[usize::from(index)] & 0xffff_ffff).unwrap();
        match *test {
            CallTest::Always => true,
            CallTest::AtLeast { argument: index, least } => argument(index) >= least,
            CallTest::Within { argument: index, first, end } => (first..end).contains(&argument(index)),
            CallTest::Masked { argument: index, mask, value } => argument(index) & mask == value,
        }
    }

    fn any_test() -> impl Strategy<Value = CallTest> {
        prop_oneof![
            Just(CallTest::Always),
            (0_u8..6, 0_u32..9).prop_map(|(argument, least)| CallTest::AtLeast { argument, least }),
            (0_u8..6, 0_u32..9, 0_u32..9).prop_map(|(argument, first, len)| CallTest::Within {
                argument,
                first,
                end: first + len
            }),
            (0_u8..6, 0_u32..9, 0_u32..9).prop_map(|(argument, mask, value)| CallTest::Masked {
                argument,
                mask,
                value
            }),
        ]
    }

    proptest! {
        #[test]
        fn a_call_is_notified_if_it_is_listed_and_a_test_holds(
            calls in proptest::collection::btree_map(0_u32..60, proptest::collection::vec(any_test(), 1..3), 0..8),
            number in 0_u32..60, arguments in any::<[u8; 6]>(), high in any::<u32>(),
        ) {
            let arguments = arguments.map(|argument| u64::from(argument % 12) | u64::from(high) << 32);
            let program = program(ARCH, calls.clone().into_iter().collect());
            let tests = calls.get(&number);
            let is_notified = tests.is_some_and(|tests| tests.iter().any(|test| holds(test, arguments)));
            let expected = if is_notified { NOTIFY } else { ALLOW };
            prop_assert_eq!(run(&program, ARCH, number, arguments), Some(expected));
            prop_assert_eq!(run(&program, ARCH + 1, number, arguments), Some(ALLOW), "another architecture");
        }
    }

    #[test]
    fn what_is_not_listed_reads_no_argument() {
        // The kernel passes calls over that the filter allows by their number alone.
        let listed = (0..40).map(|number| (2 * number, vec![CallTest::within(0, &(7..9))])).collect();
        let program = program(ARCH, listed);
        let (search, tests) = program.split_at(program.len() - 5);
        assert!(search.iter().all(|step| step.code != LOAD || step.k < ARGUMENTS));
        assert_eq!(tests[0].code, LOAD, "one block for all");
        assert_eq!(run(&program, ARCH, 6, [8; 6]), Some(NOTIFY));
        assert_eq!(run(&program, ARCH, 7, [8; 6]), Some(ALLOW));
    }
}
