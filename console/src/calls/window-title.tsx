import { useTitle } from '../parts/index.ts';

/** Names the window after what the page is, where its head is a person's name: titles hold no names. Stands behind the head. */
export function WindowTitle({ text }: { text: string }) {
  useTitle(text);
  return null;
}
