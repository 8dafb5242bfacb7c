//! Placing and listing calls (spec 1 «Calls», «Errors of placing a call»).
