//! The calendar against an indexed heap with four children a node, which holds only what is due.
//!
//! Both get the same load: some links, of which a few carry packets, and twice as many timers. An event is an
//! arrival: its link is set to its next one or becomes idle, another link gets the packet, and a timer is
//! moved far ahead.
#![allow(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::hint::black_box;

use slantpath_base::{Duration, Instant, Seed};
use slantpath_des::Calendar;

/// Queue that is measured.
trait Queue {
    fn set(&mut self, slot: usize, deadline: Instant);
    fn next(&mut self) -> Option<(Instant, usize)>;
}

impl Queue for Calendar {
    fn set(&mut self, slot: usize, deadline: Instant) {
        Self::set(self, slot, deadline);
    }

    fn next(&mut self) -> Option<(Instant, usize)> {
        self.next_due()
    }
}

/// An indexed heap of four children a node.
struct Heap {
    keys: Vec<(Instant, usize)>,
    place: Vec<Option<usize>>,
}

impl Heap {
    fn new(slots: usize) -> Self {
        Self { keys: Vec::with_capacity(slots), place: vec![None; slots] }
    }

    fn put(&mut self, place: usize, key: (Instant, usize)) {
        self.keys[place] = key;
        self.place[key.1] = Some(place);
    }

    fn up(&mut self, mut place: usize, key: (Instant, usize)) {
        while place > 0 && key < self.keys[(place - 1) / 4] {
            self.put(place, self.keys[(place - 1) / 4]);
            place = (place - 1) / 4;
        }
        self.put(place, key);
    }

    fn down(&mut self, mut place: usize, key: (Instant, usize)) {
        loop {
            let children = 4 * place + 1..self.keys.len().min(4 * place + 5);
            match children.min_by_key(|&child| self.keys[child]) {
                Some(least) if self.keys[least] < key => {
                    self.put(place, self.keys[least]);
                    place = least;
                }
                _ => break,
            }
        }
        self.put(place, key);
    }
}

impl Queue for Heap {
    fn set(&mut self, slot: usize, deadline: Instant) {
        let key = (deadline, slot);
        match (self.place[slot], deadline == Instant::FAR_FUTURE) {
            (None, true) => {}
            (None, false) => {
                self.keys.push(key);
                self.up(self.keys.len() - 1, key);
            }
            (Some(place), true) => {
                self.place[slot] = None;
                let last = self.keys.pop().expect("it is in the heap");
                if place < self.keys.len() {
                    if last < self.keys[place] { self.up(place, last) } else { self.down(place, last) }
                }
            }
            (Some(place), false) => {
                if key < self.keys[place] {
                    self.up(place, key);
                } else {
                    self.down(place, key);
                }
            }
        }
    }

    fn next(&mut self) -> Option<(Instant, usize)> {
        self.keys.first().copied()
    }
}

const EVENTS: u32 = 2_000_000;

/// Nanoseconds of CPU time an event.
fn run(queue: &mut impl Queue, links: usize, active: usize) -> f64 {
    let mut stream = Seed::new(1, 0).stream("calendar");
    let mut delay = || Duration::from_nanos(1_000 + stream.below(1_000_000));
    let mut packets = vec![0_u32; links];
    for timer in 0..2 * links {
        queue.set(links + timer, Instant::from_secs(1) + delay());
    }
    for link in 0..active {
        packets[link * (links / active)] = 1;
        queue.set(link * (links / active), Instant::START + delay());
    }
    let start = cpu_nanos();
    for event in 0..EVENTS {
        let Some((now, slot)) = queue.next() else { break };
        if slot >= links {
            queue.set(slot, now + Duration::from_secs(1));
            continue;
        }
        packets[slot] -= 1;
        queue.set(slot, if packets[slot] > 0 { now + delay() } else { Instant::FAR_FUTURE });
        let to = (slot + 1) % links;
        packets[to] += 1;
        if packets[to] == 1 {
            queue.set(to, now + delay());
        }
        queue.set(links + (slot * 2 + event as usize % 2) % (2 * links), now + Duration::from_secs(1));
    }
    black_box(queue.next());
    (cpu_nanos() - start) as f64 / f64::from(EVENTS)
}

/// Nanoseconds that this process has spent on a processor, from the kernel's own account.
fn cpu_nanos() -> u64 {
    let account = std::fs::read_to_string("/proc/self/schedstat").expect("Linux keeps account");
    account.split(' ').next().and_then(|nanos| nanos.parse().ok()).expect("a number")
}

fn main() {
    println!("links  active  calendar ns  heap ns  heap / calendar");
    for (links, active) in [(8, 2), (400, 4), (400, 12), (400, 100), (4_000, 12), (4_000, 1_000)] {
        let calendar = run(&mut Calendar::new(links, 3 * links), links, active);
        let heap = run(&mut Heap::new(3 * links), links, active);
        println!("{links:5}  {active:6}  {calendar:11.1}  {heap:7.1}  {:15.2}", heap / calendar);
    }
}
