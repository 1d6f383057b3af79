//! `[[signalling.routes]]` and `[[signalling.translations]]`: where messages go.

use slantpath_reader::{Setting, policy, section};
use slantpath_ss7::sccp::gtt::{RouteOn, Sharing};

use crate::bounds::WEIGHT;

section! {
    /// A route of MTP3: messages from one point to another go by an adjacent one.
    pub struct Route {
        /// The point that routes.
        from: Setting<String>;
        /// Destination of the route.
        to: Setting<String>;
        /// The adjacent point whose link set is taken.
        via: Setting<String>;
        /// 0 is the normal route, higher numbers are alternatives. Two routes of one priority share the load.
        priority: Setting<u8> = 0;
    }
}

section! {
    /// A rule of global title translation.
    pub struct Translation {
        /// The point that translates.
        at: Setting<String>;
        /// The called party's digits: `?` is any digit, a `*` at the end any more.
        digits: Setting<String>;
        /// Only this translation type.
        translation_type: Option<Setting<u8>>;
        /// Only this numbering plan.
        plan: Option<Setting<u8>>;
        /// Only this nature of address.
        nature: Option<Setting<u8>>;
        /// Only this subsystem of the called party.
        subsystem: Option<Setting<u8>>;
        /// Only calling parties with these digits.
        calling: Option<Setting<String>>;
        /// Leading digits that are cut off.
        delete: Setting<u8> = 0;
        /// Digits that are put in their place.
        insert: Setting<String> = String::new();
        /// The translation type with which the title leaves; that with which it came if absent.
        to_translation_type: Option<Setting<u8>>;
        /// The numbering plan with which it leaves; 7 is E.214. That with which it came if absent.
        to_plan: Option<Setting<u8>>;
        /// The nature of address with which it leaves; 4 is international. That with which it came if absent.
        to_nature: Option<Setting<u8>>;
        /// Points that the message goes to.
        to: Setting<Vec<String>>;
        /// With several that share: the share of each, in the order of `to`; 1 each if absent.
        weights: Option<Setting<Vec<u32>>>, at most WEIGHT;
        /// Their subsystem; the one that was called if absent.
        to_subsystem: Option<Setting<u8>>;
        /// Routing at the points that the message goes to.
        route_on: Setting<RouteOnChoice> = RouteOnChoice::of(RouteOn::Ssn);
        /// Sharing among several points.
        sharing: Setting<SharingChoice> = SharingChoice::of(Sharing::Dominant);
    }
}

policy! {
    /// Routing of a translated message at the next point.
    pub struct RouteOnChoice of RouteOn {
        /// Translates the title again.
        GlobalTitle = "global-title",
        /// Hands the message to the subsystem: it has arrived.
        Ssn = "subsystem",
    }
}

policy! {
    /// Sharing of traffic among the points of a translation.
    pub struct SharingChoice of Sharing {
        /// The first that can be reached.
        Dominant = "dominant",
        /// By the signalling link selection: each keeps its point.
        LinkSelection = "link-selection",
        /// In turns; messages in sequence by their signalling link selection all the same.
        Turns = "turns",
    }
}
