-- The moment at which the carrier was asked to dial, for calls for which it is known. A frequency cap counts a call from it:
-- a store that answers late lets a dial go out some seconds after its call was written down.
alter table calls add column dialled_at bigint;
