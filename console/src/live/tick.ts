import { useEffect, useState } from 'react';

/** The time now, each second. */
export function useTick(): number {
  const [now, tick] = useState(() => Date.now());
  useEffect(() => { const timer = setInterval(() => tick(Date.now()), 1_000); return () => clearInterval(timer); }, []);
  return now;
}
