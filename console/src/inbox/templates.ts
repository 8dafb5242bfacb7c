// What a template of the channel wants filled in, and how it reads then.
import type { Schemas } from '../api/index.ts';

type Template = Schemas['ChannelTemplate'];
export interface Place { readonly part: 'header' | 'body' | 'button'; readonly name: string; readonly button?: number; readonly media?: 'image' | 'video' | 'document' }
interface Component { readonly type: string; readonly format: string; readonly text: string; readonly buttons: readonly { readonly type: string; readonly text: string; readonly url: string }[] }

const word = (value: unknown): string => (typeof value === 'string' ? value : '');
export function componentsOf(template: Template): readonly Component[] {
  return template.components.map((one) => ({
    type: word(one.type).toUpperCase(), format: word(one.format).toUpperCase(), text: word(one.text),
    buttons: Array.isArray(one.buttons) ? one.buttons.map((button: Record<string, unknown>) => ({ type: word(button.type).toUpperCase(), text: word(button.text), url: word(button.url) })) : [],
  }));
}
const places = (text: string): string[] => [...new Set([...text.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map((found) => found[1] ?? ''))];
const MEDIA: Record<string, 'image' | 'video' | 'document'> = { IMAGE: 'image', VIDEO: 'video', DOCUMENT: 'document' };

export function placesOf(template: Template): readonly Place[] {
  return componentsOf(template).flatMap((one): Place[] => {
    const media = MEDIA[one.format];
    if (one.type === 'HEADER' && media) return [{ part: 'header', name: media, media }];
    if (one.type === 'HEADER') return places(one.text).map((name) => ({ part: 'header', name }));
    if (one.type === 'BODY') return places(one.text).map((name) => ({ part: 'body', name }));
    return one.buttons.flatMap((button, at): Place[] => (button.type === 'URL' && places(button.url).length > 0 ? [{ part: 'button', name: button.text, button: at }] : []));
  });
}
export const keyOfPlace = (place: Place): string => `${place.part}:${place.button ?? ''}:${place.name}`;

/** The part of a template as it is read with these values; an empty place stays as it is. */
export const filled = (text: string, part: Place['part'], values: Readonly<Record<string, string>>): string =>
  text.replace(/\{\{\s*(\w+)\s*\}\}/g, (place, name: string) => values[keyOfPlace({ part, name })]?.trim() || place);

export function paramsOf(template: Template, values: Readonly<Record<string, string>>): Schemas['TemplateParams'] {
  const all = placesOf(template);
  const value = (place: Place): string => (values[keyOfPlace(place)] ?? '').trim();
  const body = all.filter((place) => place.part === 'body');
  const header = all.find((place) => place.part === 'header');
  const buttons = all.filter((place) => place.part === 'button');
  const numbered = body.every((place) => /^\d+$/.test(place.name));
  return {
    ...(body.length === 0 ? {} : { body: numbered ? [...body].sort((a, b) => Number(a.name) - Number(b.name)).map(value) : Object.fromEntries(body.map((place) => [place.name, value(place)])) }),
    ...(header ? { header: header.media ? { type: header.media, url: value(header) } : { type: 'text' as const, text: value(header) } } : {}),
    ...(buttons.length === 0 ? {} : { buttons: buttons.map((place) => ({ index: place.button ?? 0, text: value(place) })) }),
  };
}
