import { Calendar, ChevronDown } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { Button as KitButton, Dialog, DialogTrigger, Popover } from 'react-aria-components';
import { Icon } from './icon.tsx';
import { dayName, indiaDay } from './time.ts';
import { t } from './words.ts';

/** Days of India, first and last, as they stand in the address. */
export interface DayRange { readonly start: string; readonly end: string }
const Panel = lazy(() => import('./dates-panel.tsx'));

export function rangeName({ start, end }: DayRange): string {
  if (start === end) return end === indiaDay() ? t('Today') : end === indiaDay(1) ? t('Yesterday') : dayName(start);
  return `${dayName(start)} – ${dayName(end)}`;
}

export function Dates({ value, onChange }: { value: DayRange; onChange: (range: DayRange) => void }) {
  return (
    <DialogTrigger>
      <KitButton className="facet" data-on="true"><Icon of={Calendar} small /><b>{rangeName(value)}</b><Icon of={ChevronDown} small /></KitButton>
      <Popover className="pop" placement="bottom start">
        <Dialog aria-label={t('Dates, India time')} className="row datesdlg">{({ close }) => <Suspense fallback={null}><Panel value={value} onChange={(range) => { onChange(range); close(); }} /></Suspense>}</Dialog>
      </Popover>
    </DialogTrigger>
  );
}
