import { Plus } from 'lucide-react';
import { useState } from 'react';
import { ofWorkspace, useOperatorSend } from '../api/use-operator.ts';
import { useCommands } from '../shell/index.ts';
import { Body, Button, Confirm, Empty, More, Name, Shown, State, Tag, When, day, plural, relative, t, toast, useKeys, type Tone } from '../parts/index.ts';
import { Frame } from './frame.tsx';
import { KeySheet, RotateKeySheet } from './key-form.tsx';
import { KEYS, useApiKeys, type ApiKey } from './queries.ts';
import { SCOPES, actionName, resourceName } from './names.ts';

const ends = (key: ApiKey): boolean => key.revokedAt !== null || (key.expiresAt !== null && Date.parse(key.expiresAt) <= Date.now());

function stateOf(key: ApiKey): { tone: Tone; text: string } {
  if (key.revokedAt) return { tone: 'mute', text: t('Revoked {day}', { day: day(key.revokedAt) }) };
  if (ends(key)) return { tone: 'mute', text: t('Expired') };
  if (key.expiresAt && Date.parse(key.expiresAt) - Date.now() < 7 * 86_400_000) return { tone: 'wait', text: t('Expires {when}', { when: relative(key.expiresAt) }) };
  return { tone: 'ok', text: key.expiresAt ? t('Works until {day}', { day: day(key.expiresAt) }) : t('Works') };
}

/** What a key may do with a resource: nothing, read, change, both, or erase. */
function Cell({ scopes, resource, all }: { scopes: ReadonlySet<string>; resource: string; all: readonly string[] }) {
  const has = all.filter((action) => scopes.has(`${resource}:${action}`));
  const words = has.length === 0 ? t('nothing') : has.map(actionName).join(', ');
  return <span className="dv-scope" role="img" aria-label={`${resourceName(resource)}: ${words}`} title={`${resourceName(resource)}: ${words}`} data-read={has.includes('read')} data-write={has.includes('write')} data-erase={has.includes('erase')}><i /><i />{all.includes('erase') && <i />}</span>;
}

function Row({ row, rotate, revoke }: { row: ApiKey; rotate: () => void; revoke: () => void }) {
  const scopes = new Set(row.scopes);
  const { tone, text } = stateOf(row);
  return (
    <tr data-key={row.id} data-over={ends(row)}>
      <td><div className="stack dv-key"><span className="row"><b className="medium cut"><Name>{row.name}</Name></b>{row.mode === 'test' && <Tag tone="wait">{t('Test')}</Tag>}</span><span className="mono dim">{row.prefix}</span><span className="thin meta">{plural(row.scopes.length, '{n} scope', '{n} scopes')}</span></div></td>
      <td><State tone={tone}>{text}</State>{row.previousValidUntil && Date.parse(row.previousValidUntil) > Date.now() && <p className="meta">{t('The older value works until {time}', { time: `${day(row.previousValidUntil)}` })}</p>}</td>
      <td className="wide">{row.lastUsedAt ? <When at={row.lastUsedAt} /> : <span className="dim">{t('never')}</span>}</td>
      {SCOPES.map(([resource, all]) => <td key={resource} className="wide dv-cell"><Cell scopes={scopes} resource={resource} all={all} /></td>)}
      <td className="r">{!ends(row) && <More small label={t('Actions of {name}', { name: row.name })} entries={[{ text: t('New value…'), act: rotate }, '-', { text: t('Revoke…'), danger: true, act: revoke }]} />}</td>
    </tr>
  );
}

function Revoke({ row, onClose }: { row: ApiKey | null; onClose: () => void }) {
  const revoke = useOperatorSend<string, { data: ApiKey }>((id) => ({ method: 'DELETE', path: ofWorkspace(`/keys/${id}`) }), {
    alters: [KEYS()],
    done: ({ data }) => {
      const { nudges = 0, scheduledCalls = 0 } = data.cancelled ?? {};
      toast(nudges + scheduledCalls === 0 ? t('The key is revoked') : t('The key is revoked; {nudges} nudges and {calls} scheduled calls are cancelled', { nudges, calls: scheduledCalls }));
    },
  });
  return (
    <Confirm open={row !== null} onClose={onClose} title={t('Revoke “{name}”', { name: row?.name ?? '' })} action={t('Revoke the key')} danger typed={row ? { label: t('Type the name of the key'), text: row.name.trim() } : undefined} act={() => (row ? revoke.mutateAsync(row.id) : Promise.resolve())}>
      <p className="mid">{t('It stops working at once, on every node. Nudges and scheduled calls that it made and that still wait are cancelled; calls that are on go on.')}</p>
    </Confirm>
  );
}

export function Page() {
  const keys = useApiKeys();
  const [making, setMaking] = useState(false);
  const [rotating, setRotating] = useState<ApiKey | null>(null);
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  const make = (): void => setMaking(true);
  useKeys([{ key: 'n', text: t('New key'), act: make }]);
  useCommands([{ id: 'new-key', text: t('New key…'), act: make }]);
  const button = <Button kind="primary" icon={Plus} onPress={make}>{t('New key')}</Button>;
  return (
    <Frame tab="keys" actions={button}>
      <Body>
        <Shown of={keys} what={t('The keys could not be read.')} rows={3}>
          {({ data }) => (data.length === 0 ? <Empty title={t('No key yet')} action={button}>{t('With a key another system calls the API of this workspace.')}</Empty> : (
            <div className="box over dv-keys" tabIndex={0} role="region" aria-label={t('Keys')}>
              <table className="tbl">
                <thead><tr><th scope="col">{t('Key')}</th><th scope="col">{t('State')}</th><th scope="col" className="wide">{t('Last used, IST')}</th>{SCOPES.map(([resource]) => <th key={resource} scope="col" className="wide dv-cell"><span>{resourceName(resource)}</span></th>)}<th><span className="vh">{t('Actions')}</span></th></tr></thead>
                <tbody>{[...data].sort((one, other) => Number(ends(one)) - Number(ends(other))).map((row) => <Row key={row.id} row={row} rotate={() => setRotating(row)} revoke={() => setRevoking(row)} />)}</tbody>
              </table>
            </div>
          ))}
        </Shown>
        <p className="meta row wide"><span className="dv-scope" data-read="true" data-write="false" aria-hidden><i /><i /></span>{t('reads')}<span className="dv-scope" data-read="true" data-write="true" aria-hidden><i /><i /></span>{t('reads and changes')}<span className="dv-scope" data-read="true" data-write="true" data-erase="true" aria-hidden><i /><i /><i /></span>{t('may also erase people')}</p>
      </Body>
      <KeySheet open={making} onClose={() => setMaking(false)} />
      <RotateKeySheet row={rotating} onClose={() => setRotating(null)} />
      <Revoke row={revoking} onClose={() => setRevoking(null)} />
    </Frame>
  );
}
