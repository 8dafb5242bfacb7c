import { Empty, t, useFilters } from '../parts/index.ts';
import { ThinPerson, columnsOfPeople } from './consent-page.tsx';
import { Frame } from './frame.tsx';
import { RecordList } from './list.tsx';
import { useRecords } from './queries.ts';
import { DateRange, useRange } from './range.tsx';

export function Page() {
  const filters = useFilters();
  const list = useRecords('grievances', useRange());
  return (
    <Frame tab="requests">
      <RecordList
        label={t('Requests')} list={list} columns={columnsOfPeople(filters.one('record') !== '')} filters={['from', 'to']} thin={(row) => <ThinPerson row={row} />} toolbar={<div className="facets"><DateRange /></div>}
        none={<Empty title={t('Nobody has asked for anything')}>{t('When a person is erased, the record of it comes here: it says that it was done, and nothing of the person.')}</Empty>}
      />
    </Frame>
  );
}
