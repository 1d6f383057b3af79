//! Links of which there are several alike.

use slantpath_reader::{Fault, Faults, Passing, Tables};

use crate::written::SignallingLink;

/// Puts each of several links in the place of their common table.
pub(crate) fn expand(links: &mut Tables<SignallingLink>, faults: &mut Faults) {
    let several: Vec<_> = links
        .iter()
        .filter_map(|(name, link)| Some((name.to_owned(), (*link.count)?, SignallingLink::clone(link))))
        .collect();
    for (name, count, link) in several {
        if *count == 0 {
            let fault = Fault::new(format!("`{name}` is no link at all"));
            faults.report(count.place(), fault.help("leave the table out, or let there be one"));
            continue;
        }
        if let Some(slc) = link.slc.filter(|_| *count > 1) {
            let fault = Fault::new(format!("{} links cannot have one signalling link code", *count));
            faults.report(slc.place(), fault.help("leave `slc` out: codes follow the order of names"));
            continue;
        }
        let digits = count.to_string().len();
        let each = |number: u32| {
            (format!("{name}-{number:0digits$}"), SignallingLink { count: Passing(None), ..link.clone() })
        };
        if let Err(taken) = links.replace(&name, (1..=*count).map(each).collect()) {
            let fault = Fault::new(format!("one of the {} links is called `{taken}`, as another is", *count));
            faults.report(count.place(), fault.help("give the other link another name"));
        }
    }
}
