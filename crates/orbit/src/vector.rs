//! Three-dimensional vectors in metres and metres per second: only what geometry here needs.

use core::ops::{Add, AddAssign, Mul, Neg, Sub};

/// A vector of three components. Its frame and unit are said by whoever holds it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vec3 {
    /// First component of the vector.
    pub x: f64,
    /// Second component of the vector.
    pub y: f64,
    /// Third component, along the Earth's axis in both frames of this crate.
    pub z: f64,
}

impl Vec3 {
    /// Origin of the frame.
    pub const ZERO: Self = Self::new(0.0, 0.0, 0.0);

    /// From its components.
    pub const fn new(x: f64, y: f64, z: f64) -> Self {
        Self { x, y, z }
    }

    /// The scalar product.
    #[must_use]
    pub fn dot(self, other: Self) -> f64 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    /// The vector product.
    #[must_use]
    pub fn cross(self, other: Self) -> Self {
        Self::new(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )
    }

    /// The square of the length.
    #[must_use]
    pub fn norm_squared(self) -> f64 {
        self.dot(self)
    }

    /// Length of the vector.
    #[must_use]
    pub fn norm(self) -> f64 {
        libm::sqrt(self.norm_squared())
    }

    /// The vector turned by an angle about the z axis, counter-clockwise seen from the north.
    #[must_use]
    pub fn turned_about_z(self, sine: f64, cosine: f64) -> Self {
        Self::new(cosine * self.x - sine * self.y, sine * self.x + cosine * self.y, self.z)
    }

    /// The unit vector of the same direction. The zero vector has none and gives not-a-number.
    #[must_use]
    pub fn unit(self) -> Self {
        self * (1.0 / self.norm())
    }
}

impl Add for Vec3 {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::new(self.x + other.x, self.y + other.y, self.z + other.z)
    }
}

impl AddAssign for Vec3 {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Vec3 {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self::new(self.x - other.x, self.y - other.y, self.z - other.z)
    }
}

impl Neg for Vec3 {
    type Output = Self;
    fn neg(self) -> Self {
        Self::new(-self.x, -self.y, -self.z)
    }
}

impl Mul<f64> for Vec3 {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self::new(self.x * factor, self.y * factor, self.z * factor)
    }
}

/// Position and velocity at one instant, in metres and metres per second of one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct State {
    /// Position, metres from the Earth's centre.
    pub position: Vec3,
    /// Velocity in the same frame, metres per second.
    pub velocity: Vec3,
}
