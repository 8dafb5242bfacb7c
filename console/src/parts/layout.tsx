import { ArrowLeft } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'react-aria-components';
import { Icon } from './icon.tsx';
import { useTitle } from './title.ts';
import { utc, when } from './time.ts';

/** The head of a page: where it belongs, its one h1, a mark, a quiet line, and right the actions with one primary. */
export function Head({ back, title, short, mark, sub, children }: { back?: { href: string; text: string } | undefined; title: string; short?: string; mark?: ReactNode; sub?: ReactNode; children?: ReactNode }) {
  useTitle(title);
  return (
    <header className="head" data-back={Boolean(back)}>
      {back && <Link href={back.href} className="crumb" aria-label={back.text}><Icon of={ArrowLeft} /><span className="wide" aria-hidden>{back.text}</span></Link>}
      <h1 dir="auto">{short ? <><span className="wide">{title}</span><span className="thin">{short}</span></> : title}</h1>
      {mark}
      <div className="grow row">{sub}</div>
      <div className="row">{children}</div>
    </header>
  );
}

export const Body = ({ children, pad = true }: { children: ReactNode; pad?: boolean }) => <div className="body" tabIndex={0}>{pad ? <div className="pad page">{children}</div> : children}</div>;

/** A box with a heading; hairlines, never shadows. */
export const Box = ({ title, count, extra, children, inside = true, className = '' }: { title: ReactNode; count?: ReactNode; extra?: ReactNode; children: ReactNode; inside?: boolean; className?: string }) => (
  <section className={`box ${className}`}><header><h2>{title}</h2>{count !== undefined && <span className="dim num">{count}</span>}<span className="grow" />{extra}</header>{inside ? <div className="in">{children}</div> : children}</section>
);

export const Figures = ({ children }: { children: ReactNode }) => <dl className="figs">{children}</dl>;
/** A figure with what it is of, and a quiet line. */
export const Figure = ({ name, value, unit, under }: { name: ReactNode; value: ReactNode; unit?: ReactNode; under?: ReactNode }) => (
  <div><dt>{name}</dt><dd>{value}{unit !== undefined && <> <span className="unit">{unit}</span></>}</dd>{under !== undefined && <dd>{under}</dd>}</div>
);

/** A moment as `10:42:31` or `25 Nov, 18:02` of India; hovering gives UTC. */
export const When = ({ at, children }: { at: string | number; children?: ReactNode }) => <time dateTime={new Date(at).toISOString()} title={utc(at)} className="num">{children ?? when(at)}</time>;

/** Names and values. */
export const Facts = ({ children }: { children: ReactNode }) => <dl className="kv">{children}</dl>;
export const Fact = ({ name, children }: { name: ReactNode; children: ReactNode }) => <><dt>{name}</dt><dd dir="auto">{children}</dd></>;
