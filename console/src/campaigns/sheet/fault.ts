/** Why a file could not be read. */
export type SheetFault = 'not_a_sheet' | 'too_large' | 'empty' | 'too_many_rows' | 'old_excel';
export class SheetError extends Error {
  readonly fault: SheetFault;
  readonly n: number;
  constructor(fault: SheetFault, n = 0) { super(fault); this.name = 'SheetError'; this.fault = fault; this.n = n; }
}
