//! placeholder
mod graph; mod parse; pub mod check; pub mod template; mod one_step;
pub use check::*; pub use graph::*; pub use parse::*; pub use one_step::*;
