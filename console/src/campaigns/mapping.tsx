import { ArrowRight } from 'lucide-react';
import { useMemo } from 'react';
import { Box, Icon, Name, SelectInput, t, type Choice } from '../parts/index.ts';
import { looksLikePhone, variableName, type Target } from './sheet/columns.ts';
import type { OpenFile } from './import-state.ts';
import type { Mapping } from './sheet/reader.ts';

interface Props { file: OpenFile; mapping: Mapping; variables: readonly string[]; missing: readonly string[]; remap: (mapping: Mapping) => void; busy: boolean }

/** A sample without a whole number of a phone: `98••• ••210`. */
const masked = (sample: string, phone: boolean): string => (phone || (looksLikePhone(sample) && sample.replace(/\D/g, '').length >= 10) ? sample.replace(/\d(?=(?:\D*\d){3})/g, (digit, at: number) => (at < 2 ? digit : '•')) : sample);

/** What each column of the file becomes. Another choice sends the list again. */
export function Columns({ file, mapping, variables, missing, remap, busy }: Props) {
  const { columns } = file.info;
  const choices = useMemo(() => [...new Set([...variables, ...missing])].filter((one) => one !== 'name'), [variables, missing]);
  const titled = (at: number): string => columns[at]?.name || t('Column {n}', { n: at + 1 });
  const choose = (at: number, target: Target): void => {
    const targets = mapping.targets.map((before, place) => (place === at ? target : target !== 'none' && before === target ? 'none' : before));
    remap({ ...mapping, targets });
  };
  const options = (at: number): readonly Choice<Target>[] => {
    const own = variableName(columns[at]?.name || `column_${at + 1}`);
    return [
      { id: 'phone', text: t('number') }, { id: 'name', text: t('name') },
      ...choices.map((one) => ({ id: `var:${one}` as const, text: one })),
      ...(choices.includes(own) ? [] : [{ id: `var:${own}` as const, text: own }]),
      { id: 'none', text: t('not used') },
    ];
  };
  const phone = mapping.targets.includes('phone');
  const lacking = missing.filter((one) => !mapping.targets.includes(one === 'name' ? 'name' : `var:${one}`));
  return (
    <Box title={t('Columns')} inside={false} extra={<span className="dim">{busy ? t('is sent') : ''}</span>}>
      {!phone && <p className="fault padded-x" role="alert">{t('Choose which column has the numbers.')}</p>}
      <ul className="map" data-busy={busy}>
        {columns.map((column, at) => (
          <li key={at}><div className="grow stack"><span className="medium cut"><Name>{titled(at)}</Name></span><span className="meta cut num"><Name>{masked(column.sample, mapping.targets[at] === 'phone') || t('empty')}</Name></span></div><Icon of={ArrowRight} small /><div className="pick"><SelectInput hideLabel label={t('What {column} becomes', { column: titled(at) })} value={mapping.targets[at] ?? 'none'} onChange={(target: Target) => choose(at, target)} choices={options(at)} /></div></li>
        ))}
        {lacking.map((variable) => (
          <li key={variable} data-missing><div className="grow stack"><span className="medium dim">{t('no column')}</span><span className="meta">{t('missing')}</span></div><Icon of={ArrowRight} small /><div className="pick"><SelectInput hideLabel label={t('Which column is {variable}', { variable })} value={null} placeholder={variable} fault=" " onChange={(at: string) => choose(Number(at), variable === 'name' ? 'name' : `var:${variable}`)} choices={columns.map((_, at) => ({ id: String(at), text: titled(at) }))} /></div></li>
        ))}
      </ul>
    </Box>
  );
}
