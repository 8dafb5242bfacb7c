// Figures of India: ₹1,84,250.00 and 3,12,406, never lakh words and never 'k'.
const rupee = new Intl.NumberFormat('en-IN', { style: 'currency', currency: 'INR' });
const wholeRupee = new Intl.NumberFormat('en-IN', { style: 'currency', currency: 'INR', maximumFractionDigits: 0 });
const number = new Intl.NumberFormat('en-IN');

/** `₹1,84,250.00` of paise. */
export const rupees = (minor: number): string => rupee.format(minor / 100);
/** `₹1,84,250`, where a figure stands without paise. */
export const rupeesWhole = (minor: number): string => wholeRupee.format(minor / 100);
/** Paise of an amount in rupees, or null of what is not surely one: digits with or without the commas of India or of the West, and at most two places. */
export function paise(text: string): number | null {
  const plain = text.replaceAll(/[₹\s]/g, '').replace('−', '-');
  const amount = /^-?(?:\d+|\d{1,3}(?:,\d{2})*,\d{3}|\d{1,3}(?:,\d{3})+)(?:\.\d{1,2})?$/;
  return amount.test(plain) ? Math.round(Number(plain.replaceAll(',', '')) * 100) : null;
}
/** `3,12,406` */
export const count = (n: number): string => number.format(n);
/** `43.1%` of a share between 0 and 1. */
export const percent = (share: number, digits = 1): string => new Intl.NumberFormat('en-IN', { style: 'percent', minimumFractionDigits: digits, maximumFractionDigits: digits }).format(share);
/** `1,080 ms` */
export const millis = (ms: number): string => `${number.format(Math.round(ms))} ms`;
/** `1.2 MB` */
export function bytes(size: number): string {
  const [unit, divisor] = size < 1_000 ? ['B', 1] : size < 1_000_000 ? ['kB', 1_000] : ['MB', 1_000_000];
  return `${new Intl.NumberFormat('en-IN', { maximumFractionDigits: divisor === 1 ? 0 : 1 }).format(size / Number(divisor))} ${unit}`;
}
