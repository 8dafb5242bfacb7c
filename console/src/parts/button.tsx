import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button as KitButton, Link, ToggleButton, ToggleButtonGroup, Tooltip, TooltipTrigger, type ButtonProps } from 'react-aria-components';
import { Icon } from './icon.tsx';

type Kind = 'primary' | 'danger' | 'danger-full' | 'bare' | 'plain';
const CLASS: Record<Kind, string> = { primary: ' pri', danger: ' bad', 'danger-full': ' bad full', bare: ' bare', plain: '' };

interface Look { kind?: Kind; small?: boolean; icon?: LucideIcon; label?: string; tip?: string; keys?: string; children?: ReactNode }
const classes = ({ kind = 'plain', small, children }: Look): string => `btn${CLASS[kind]}${small ? ' sm' : ''}${children ? '' : ' icon'}`;
const inside = ({ icon, children, keys }: Look): ReactNode => <>{icon && <Icon of={icon} />}{children}{keys && <kbd aria-hidden className="wide">{keys}</kbd>}</>;

/** A button. Without children it needs a `label`, which is also its tip. `keys` is only shown: the page binds it by `useKeys`. */
export function Button({ kind, small, icon, label, tip, keys, children, ...rest }: Look & Omit<ButtonProps, 'children' | 'className'>) {
  const look = { kind, small, icon, children, keys } as Look;
  const button = <KitButton {...rest} {...(label ? { 'aria-label': label } : {})} className={classes(look)}>{inside(look)}</KitButton>;
  const says = tip ?? (children ? undefined : label);
  return says ? <TooltipTrigger delay={400}>{button}<Tooltip className="tip">{says}</Tooltip></TooltipTrigger> : button;
}

/** A link that looks like a button. */
export function ButtonLink({ href, ...look }: Look & { href: string }) {
  return <Link href={href} className={classes(look)} {...(look.label ? { 'aria-label': look.label } : {})}>{inside(look)}</Link>;
}

/** Words that say more when they are hovered, focused or tapped. */
export const Tip = ({ text, children }: { text: string; children: ReactNode }) => (
  <TooltipTrigger delay={300}><KitButton className="bare-btn">{children}</KitButton><Tooltip className="tip">{text}</Tooltip></TooltipTrigger>
);

/** One of a few; the chosen one is raised. */
export function Segment<T extends string>({ label, value, onChange, items, full }: { label: string; value: T; onChange: (value: T) => void; items: readonly (readonly [T, ReactNode])[]; full?: boolean }) {
  return (
    <ToggleButtonGroup aria-label={label} className={full ? 'seg full' : 'seg'} selectionMode="single" disallowEmptySelection selectedKeys={[value]} onSelectionChange={(keys) => onChange([...keys][0] as T)}>
      {items.map(([key, text]) => <ToggleButton key={key} id={key} data-value={key}>{text}</ToggleButton>)}
    </ToggleButtonGroup>
  );
}
