import type { SignalName, Signals } from './host.ts';

export interface SystemSignals extends Signals {
  /** Calls `callback` when there is no signal listener: immediately, or when the last listener is removed. */
  whenNoListeners(callback: () => void): void;
}

/**
 * Delivers the signals of the operating system to listeners. The process catches signals only while it has a listener. On
 * Windows Ctrl-Break, which is also what a parent process can send, counts as Ctrl-C.
 */
export function systemSignals(platform: NodeJS.Platform = process.platform): SystemSignals {
  const caught: readonly NodeJS.Signals[] = platform === 'win32' ? [...names, 'SIGBREAK'] : names;
  const listeners = new Set<Listener>();
  const waiting: (() => void)[] = [];
  const forward = (signal: NodeJS.Signals) => {
    const name = signal === 'SIGBREAK' ? 'SIGINT' : signal;
    if (isSignalName(name)) for (const listener of [...listeners]) listener(name);
  };
  return {
    listen(onSignal) {
      // Each listener is wrapped in a new function, so that the same function can be added twice.
      const listener: Listener = (signal) => onSignal(signal);
      if (listeners.size === 0) for (const signal of caught) process.on(signal, forward);
      listeners.add(listener);
      return () => {
        if (!listeners.delete(listener) || listeners.size > 0) return;
        // After the last signal listener is removed, a signal ends the program as usual.
        for (const signal of caught) process.off(signal, forward);
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

const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function isSignalName(signal: string): signal is SignalName {
  return names.some((name) => name === signal);
}
