import { parseDate, today, toZoned } from '@internationalized/date';
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { Button as KitButton, CalendarCell, CalendarGrid, CalendarGridBody, CalendarGridHeader, CalendarHeaderCell, Heading, RangeCalendar } from 'react-aria-components';
import type { DayRange } from './dates.tsx';
import { Icon } from './icon.tsx';
import { ZONE, indiaDay } from './time.ts';
import { t } from './words.ts';

// The value carries the zone, so that 'today' is India's wherever the browser is.
const at = (day: string) => toZoned(parseDate(day), ZONE);
const written = (value: { toString: () => string }): string => value.toString().slice(0, 10);

export default function DatesPanel({ value, onChange }: { value: DayRange; onChange: (range: DayRange) => void }) {
  const presets = [[t('Today'), 0, 0], [t('Yesterday'), 1, 1], [t('Last 7 days'), 6, 0], [t('Last 30 days'), 29, 0]] as const;
  return (
    <>
      <div className="presets">
        {presets.map(([text, from, to]) => <KitButton key={text} className="opt" onPress={() => onChange({ start: indiaDay(from), end: indiaDay(to) })}>{text}</KitButton>)}
        <p className="hint padded">{t('Days of India (IST)')}</p>
      </div>
      <RangeCalendar aria-label={t('Dates')} className="cal" value={{ start: at(value.start), end: at(value.end) }} maxValue={today(ZONE)} onChange={(range) => onChange({ start: written(range.start), end: written(range.end) })}>
        <header><KitButton slot="previous" className="btn bare icon sm"><Icon of={ChevronLeft} /></KitButton><Heading /><KitButton slot="next" className="btn bare icon sm"><Icon of={ChevronRight} /></KitButton></header>
        <CalendarGrid>
          <CalendarGridHeader>{(day) => <CalendarHeaderCell>{day}</CalendarHeaderCell>}</CalendarGridHeader>
          <CalendarGridBody>{(date) => <CalendarCell date={date} className="day" />}</CalendarGridBody>
        </CalendarGrid>
      </RangeCalendar>
    </>
  );
}
