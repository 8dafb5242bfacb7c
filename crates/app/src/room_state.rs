//! Per-node state of the rooms above this one, by type: a room stores one value of a type of its own.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Values of rooms above, by their type.
#[derive(Default)]
pub struct RoomState(Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>);

impl RoomState {
    /// The value of this type, made by `make` the first time.
    pub fn of<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> Arc<T> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = kept.get(&TypeId::of::<T>()).and_then(|value| value.clone().downcast().ok()) {
            return value;
        }
        let value = Arc::new(make());
        kept.insert(TypeId::of::<T>(), value.clone());
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_made_once() {
        let kept = RoomState::default();
        assert_eq!(*kept.of(|| 1_u8), 1);
        assert_eq!(*kept.of(|| 2_u8), 1);
        assert_eq!(*kept.of(|| 3_u16), 3);
    }
}
