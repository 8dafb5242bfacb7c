type Message = string | { readonly one: string; readonly other: string };

const files = import.meta.glob<Record<string, Message>>('../../messages/hi/*.json', { eager: true, import: 'default' });

/** Every file of messages/hi as one. */
export const HINDI: Readonly<Record<string, Message>> = Object.assign({}, ...Object.values(files)) as Record<string, Message>;
