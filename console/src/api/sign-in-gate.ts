// A request that was answered 401 waits here until the person has signed in again; the page under the dialog stays.

type Listener = () => void;
let waiting: { promise: Promise<void>; done: () => void } | null = null;
const listeners = new Set<Listener>();
const tell = (): void => listeners.forEach((listener) => listener());

export function signedInAgain(): Promise<void> {
  if (!waiting) {
    let done: () => void = () => undefined;
    const promise = new Promise<void>((resolve) => { done = resolve; });
    waiting = { promise, done };
    tell();
  }
  return waiting.promise;
}

export function signInDone(): void {
  waiting?.done();
  waiting = null;
  tell();
}

export const signInNeeded = (): boolean => waiting !== null;
export function onSignInNeeded(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
