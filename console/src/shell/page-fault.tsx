import { Component, type ReactNode } from 'react';
import { Button, t } from '../parts/index.ts';

/** A page that failed to load or to draw leaves the navigation as it is. */
export class PageFault extends Component<{ children: ReactNode }, { fault: Error | null }> {
  override state: { fault: Error | null } = { fault: null };
  static getDerivedStateFromError(fault: Error): { fault: Error } { return { fault }; }
  override render(): ReactNode {
    if (!this.state.fault) return this.props.children;
    return <div className="error" role="alert" data-state="fault"><p className="medium">{t('This page could not be shown. Nothing was changed.')}</p><p className="mono dim">{this.state.fault.message}</p><Button onPress={() => location.reload()}>{t('Load it again')}</Button></div>;
  }
}
