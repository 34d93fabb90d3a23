import type { SignalName, Signals } from './host.ts';

export interface SystemSignals extends Signals {
  /** Calls back once nobody listens: at once, or when the last listener has been taken away. */
  whenNoListeners(callback: () => void): void;
}

/** The operating system's signals. They are only caught while somebody listens. */
export function systemSignals(): SystemSignals {
  const listeners = new Set<Listener>();
  const waiting: (() => void)[] = [];
  const hear = (signal: NodeJS.Signals) => {
    if (isCaught(signal)) for (const listener of [...listeners]) listener(signal);
  };
  return {
    listen(onSignal) {
      // The same function given twice is two listeners, each with its own end.
      const listener: Listener = (signal) => onSignal(signal);
      if (listeners.size === 0) for (const signal of caught) process.on(signal, hear);
      listeners.add(listener);
      return () => {
        if (!listeners.delete(listener) || listeners.size > 0) return;
        // With nobody listening a signal must end the program again, as it does anywhere else.
        for (const signal of caught) process.off(signal, hear);
        for (const callback of waiting.splice(0)) callback();
      };
    },
    whenNoListeners(callback) {
      if (listeners.size === 0) callback();
      else waiting.push(callback);
    },
  };
}

type Listener = (signal: SignalName) => void;

const caught = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function isCaught(signal: string): signal is SignalName {
  return caught.some((name) => name === signal);
}
