import { Search, X } from 'lucide-react';
import { forwardRef, type ReactNode } from 'react';
import { Button as KitButton, Checkbox, FieldError, Input, Label, ListBox, ListBoxItem, Popover, SearchField, Select, SelectValue, Switch, Text, TextArea, TextField, type TextFieldProps } from 'react-aria-components';
import { Check, ChevronDown } from 'lucide-react';
import { Icon } from './icon.tsx';
import { t } from './words.ts';

interface FieldLook { label: string; hint?: ReactNode; fault?: string | null | undefined; placeholder?: string; lines?: number; mono?: boolean; dir?: 'auto' | 'ltr' }

/** A labelled text. `fault` is what is wrong with it: of the form, or of the service for the field of that name. */
export function TextInput({ label, hint, fault, placeholder, lines, mono, dir = 'auto', ...rest }: FieldLook & Omit<TextFieldProps, 'children' | 'className'>) {
  const look = `ctl${mono ? ' mono' : ''}`;
  return (
    <TextField {...rest} className="field" isInvalid={Boolean(fault)} validationBehavior="aria">
      <Label>{label}</Label>
      {lines ? <TextArea className={look} rows={lines} placeholder={placeholder} dir={dir} /> : <div className={look}><Input placeholder={placeholder} dir={dir} /></div>}
      {hint && <Text slot="description" className="hint">{hint}</Text>}
      <FieldError className="fault">{fault}</FieldError>
    </TextField>
  );
}

export interface Choice<T extends string = string> { readonly id: T; readonly text: string; readonly hint?: string }

/** One of a list. */
export function SelectInput<T extends string>({ label, hint, fault, value, onChange, choices, placeholder, hideLabel }: FieldLook & { value: T | null; onChange: (value: T) => void; choices: readonly Choice<T>[]; hideLabel?: boolean }) {
  return (
    <Select className="field" value={value} onChange={(key) => { if (key !== null) onChange(key as T); }} isInvalid={Boolean(fault)} placeholder={placeholder ?? t('Choose')} {...(hideLabel ? { 'aria-label': label } : {})}>
      {!hideLabel && <Label>{label}</Label>}
      <KitButton className="ctl"><SelectValue className="grow cut">{({ selectedText, defaultChildren, isPlaceholder }) => (isPlaceholder ? defaultChildren : <span dir="auto">{selectedText}</span>)}</SelectValue><Icon of={ChevronDown} small /></KitButton>
      {hint && <Text slot="description" className="hint">{hint}</Text>}
      <FieldError className="fault">{fault}</FieldError>
      <Popover className="pop">
        <ListBox className="list">
          {choices.map((choice) => (
            <ListBoxItem key={choice.id} id={choice.id} textValue={choice.text} className="opt">
              <span className="tick"><Icon of={Check} small /></span><span dir="auto">{choice.text}</span>{choice.hint && <span className="n">{choice.hint}</span>}
            </ListBoxItem>
          ))}
        </ListBox>
      </Popover>
    </Select>
  );
}

export const SwitchInput = ({ children, value, onChange, disabled }: { children: ReactNode; value: boolean; onChange: (on: boolean) => void; disabled?: boolean }) => (
  <Switch className="sw" isSelected={value} onChange={onChange} isDisabled={disabled ?? false}><span className="trk" />{children}</Switch>
);
export const CheckInput = ({ children, value, onChange, label }: { children?: ReactNode; value: boolean; onChange: (on: boolean) => void; label?: string }) => (
  <Checkbox className="chk" isSelected={value} onChange={onChange} {...(label ? { 'aria-label': label } : {})}><span className="box-mark"><Icon of={Check} small /></span>{children}</Checkbox>
);

/** The filter of a list; `/` focuses the one of the page (data-filter). */
export const Finder = forwardRef<HTMLInputElement, { label: string; value: string; onChange: (value: string) => void; placeholder: string }>(function Finder({ label, value, onChange, placeholder }, ref) {
  return (
    <SearchField aria-label={label} className="ctl quiet finder" value={value} onChange={onChange}>
      <Icon of={Search} small /><Input ref={ref} placeholder={placeholder} data-filter dir="auto" />
      {value === '' ? <kbd className="wide" aria-hidden>/</kbd> : <KitButton className="bare-btn"><Icon of={X} small /></KitButton>}
    </SearchField>
  );
});
