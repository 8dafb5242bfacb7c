import type { ReactNode } from 'react';
import { Tab, TabList, TabPanel, Tabs as KitTabs } from 'react-aria-components';
import { useLocation } from 'wouter';

export interface TabItem { readonly id: string; readonly text: ReactNode; readonly count?: ReactNode; readonly href?: string }

/** Tabs are addresses when they have `href`; else `onChange` tells. `inside` is the lesser look within a panel. */
export function Tabs({ label, value, items, onChange, inside, children }: { label: string; value: string; items: readonly TabItem[]; onChange?: (id: string) => void; inside?: boolean; children: ReactNode }) {
  const [, navigate] = useLocation();
  const choose = (id: string): void => {
    const href = items.find((item) => item.id === id)?.href;
    if (href !== undefined) navigate(href); else onChange?.(id);
  };
  return (
    <KitTabs className="contents" selectedKey={value} onSelectionChange={(key) => { if (key !== value) choose(String(key)); }}>
      <TabList aria-label={label} className={inside ? 'tabs in' : 'tabs'}>
        {items.map((item) => <Tab key={item.id} id={item.id} className="tab">{item.text}{item.count !== undefined && <span className="n">{item.count}</span>}</Tab>)}
      </TabList>
      <TabPanel key={value} id={value} className="contents">{children}</TabPanel>
    </KitTabs>
  );
}
