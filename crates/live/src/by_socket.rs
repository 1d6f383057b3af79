//! Map from each socket of a program, by its number, to what the program keeps of it: with many sockets none is in the
//! cache when a packet comes, and a look-up reads one place.

use slantpath_host::SocketId;

/// A value for each of some sockets. It holds as many places as the host has had sockets at a time.
#[derive(Debug)]
pub struct BySocket<T> {
    places: Vec<Option<T>>,
    count: usize,
}

impl<T> Default for BySocket<T> {
    fn default() -> Self {
        Self { places: Vec::new(), count: 0 }
    }
}

impl<T> BySocket<T> {
    /// Number of sockets that have a value.
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Tells if no socket has a value.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Value of a socket, if it has one.
    pub fn get(&self, id: SocketId) -> Option<&T> {
        self.places.get(id.0 as usize)?.as_ref()
    }

    /// Value of a socket, if it has one, to be changed.
    pub fn get_mut(&mut self, id: SocketId) -> Option<&mut T> {
        self.places.get_mut(id.0 as usize)?.as_mut()
    }

    /// Gives a socket a value, and returns the one that it had.
    pub fn insert(&mut self, id: SocketId, value: T) -> Option<T> {
        let place = id.0 as usize;
        if self.places.len() <= place {
            self.places.resize_with(place + 1, || None);
        }
        let before = self.places[place].replace(value);
        self.count += usize::from(before.is_none());
        before
    }

    /// Takes the value of a socket away.
    pub fn remove(&mut self, id: SocketId) -> Option<T> {
        let value = self.places.get_mut(id.0 as usize)?.take()?;
        self.count -= 1;
        Some(value)
    }

    /// Sockets that have a value, with it, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (SocketId, &T)> {
        (0..).zip(&self.places).filter_map(|(id, place)| Some((SocketId(id), place.as_ref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_socket_has_one_value_and_they_are_listed_by_number() {
        let mut values = BySocket::default();
        assert_eq!(values.insert(SocketId(3), 'c'), None);
        assert_eq!(values.insert(SocketId(1), 'a'), None);
        assert_eq!(values.insert(SocketId(3), 'd'), Some('c'));
        assert_eq!(values.iter().collect::<Vec<_>>(), [(SocketId(1), &'a'), (SocketId(3), &'d')]);
        assert_eq!((values.len(), values.get(SocketId(2)), values.get(SocketId(9))), (2, None, None));
        *values.get_mut(SocketId(1)).unwrap() = 'b';
        assert_eq!(values.remove(SocketId(1)), Some('b'));
        assert_eq!((values.remove(SocketId(1)), values.remove(SocketId(9)), values.len()), (None, None, 1));
        values.remove(SocketId(3));
        assert!(values.is_empty());
    }
}
