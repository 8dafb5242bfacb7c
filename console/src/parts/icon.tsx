import type { LucideIcon } from 'lucide-react';

export const Icon = ({ of: Drawn, small }: { of: LucideIcon; small?: boolean | undefined }) => <Drawn className={small ? 'i s' : 'i'} aria-hidden />;
