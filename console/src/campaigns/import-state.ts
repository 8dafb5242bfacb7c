// A file on its way to a staged list: read in a worker, mapped, sent in pieces, judged by the service.
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { ApiError, call, currentScope, scopeKey, useRead } from '../api/index.ts';
import { openSheet, type Sheet } from './sheet/client.ts';
import { SheetError } from './sheet/fault.ts';
import type { Change, Made, Mapping, SheetInfo } from './sheet/reader.ts';

export type Phase = 'choose' | 'reading' | 'map' | 'sending' | 'sent';
export interface OpenFile { readonly name: string; readonly size: number; readonly info: SheetInfo }
export interface Import {
  readonly phase: Phase; readonly file: OpenFile | null; readonly mapping: Mapping | null; readonly made: Made | null; readonly progress: number;
  readonly fault: SheetError | null; readonly error: ApiError | null;
  read: (file: File) => void;
  /** Sends everything again with another mapping. */
  remap: (mapping: Mapping) => void;
  edited: (row: number, change: Change) => void;
  reset: () => void;
}

const empty = (info: SheetInfo, variables: readonly string[]): Mapping => ({ targets: info.guesses, fills: {}, needs: [], monthFirst: [], nameIsVariable: variables.includes('name') });
export const hasPhone = (mapping: Mapping): boolean => mapping.targets.includes('phone');

/** Names of the variables that the flow of an agent speaks of: its own, and the places in its texts. */
export function useVariables(agentId: string | null): readonly string[] {
  const flow = useRead('getFlow', { path: { id: agentId ?? '' } }, { enabled: agentId !== null });
  const agent = useRead('getAgent', { path: { id: agentId ?? '' } }, { enabled: agentId !== null });
  return useMemo(() => {
    const published = flow.data?.data.published ?? {};
    const own = Array.isArray(published.variables) ? published.variables.flatMap((one: unknown) => (one && typeof one === 'object' && 'name' in one && typeof one.name === 'string' ? [one.name] : one && typeof one === 'object' && 'key' in one && typeof one.key === 'string' ? [one.key] : [])) : [];
    const spoken = [...`${JSON.stringify(published)} ${agent.data?.data.systemPrompt ?? ''}`.matchAll(/\{\{\s*([\p{L}\p{N}_]+)\s*\}\}/gu)].map(([, name = '']) => name);
    return [...new Set([...own, ...spoken])].filter((name) => name !== 'phone');
  }, [flow.data, agent.data]);
}

const told = (cause: unknown): { fault: SheetError | null; error: ApiError | null } =>
  cause instanceof SheetError ? { fault: cause, error: null } : { fault: null, error: cause instanceof ApiError ? cause : new ApiError({ status: 0, code: 'failed', message: String(cause) }) };

export function useImport(campaign: string, list: string | null, variables: readonly string[], setList: (list: string | null) => void): Import {
  const client = useQueryClient();
  const sheet = useRef<Sheet | null>(null);
  const run = useRef(0);
  const [state, setState] = useState<Omit<Import, 'read' | 'remap' | 'edited' | 'reset'>>({ phase: list ? 'sent' : 'choose', file: null, mapping: null, made: null, progress: 0, fault: null, error: null });
  const patch = useCallback((next: Partial<typeof state>) => setState((before) => ({ ...before, ...next })), []);
  useEffect(() => () => { run.current += 1; sheet.current?.close(); sheet.current = null; }, []);
  const current = useRef(list);
  current.current = list;

  const send = useCallback(async (mapping: Mapping): Promise<void> => {
    const mine = (run.current += 1);
    const stale = (): boolean => mine !== run.current;
    if (!sheet.current) return;
    patch({ phase: 'sending', mapping, progress: 0, fault: null, error: null });
    try {
      const made = await sheet.current.make(mapping);
      if (current.current) await call('deleteStagedList', { path: { id: campaign, list: current.current } }).catch((cause: unknown) => { if (!(cause instanceof ApiError && cause.status === 404)) throw cause; });
      if (stale()) return;
      setList(null);
      const opened = (await call('openStagedList', { path: { id: campaign } })).data;
      const id = String(opened.stagedListId);
      for (let piece = 1, sent = 0; !stale(); piece += 1) {
        const { contacts, last } = await sheet.current.next();
        if (contacts.length > 0) await call('addStagedRows', { path: { id: campaign, list: id }, body: { piece, contacts: [...contacts] } });
        sent += contacts.length;
        patch({ progress: made.total > 0 ? sent / made.total : 1 });
        if (last) break;
      }
      if (stale()) return;
      await client.invalidateQueries({ queryKey: [scopeKey(currentScope()), 'staged rows', campaign] });
      setList(id);
      patch({ phase: 'sent', made });
    } catch (cause) {
      if (!stale()) patch({ phase: 'map', ...told(cause) });
    }
  }, [campaign, client, patch, setList]);

  const read = useCallback((file: File): void => {
    const mine = (run.current += 1);
    sheet.current?.close();
    sheet.current = openSheet();
    patch({ phase: 'reading', file: null, mapping: null, made: null, fault: null, error: null });
    sheet.current.open(file, variables.filter((one) => one !== 'name')).then((info) => {
      if (mine !== run.current) return;
      const mapping = empty(info, variables);
      patch({ phase: 'map', file: { name: file.name, size: file.size, info }, mapping });
      if (hasPhone(mapping)) void send(mapping);
    }, (cause: unknown) => { if (mine === run.current) patch({ phase: 'choose', ...told(cause) }); });
  }, [patch, send, variables]);

  return {
    ...state, read,
    remap: (mapping) => { if (hasPhone(mapping)) void send(mapping); else patch({ mapping, phase: 'map' }); },
    edited: (row, change) => { void sheet.current?.edit(row, change); },
    reset: () => { run.current += 1; sheet.current?.close(); sheet.current = null; setList(null); setState({ phase: 'choose', file: null, mapping: null, made: null, progress: 0, fault: null, error: null }); },
  };
}
