import { useEffect } from 'react';

let brand = '';
/** The name behind a page's title: that of the workspace. */
export function setTitleEnd(name: string): void { brand = name; }
/** The title of the window. It holds no number and no person's name. */
export function useTitle(title: string): void {
  useEffect(() => { document.title = brand ? `${title} · ${brand}` : title; }, [title]);
}
