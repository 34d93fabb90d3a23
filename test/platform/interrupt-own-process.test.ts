import { expect, it } from 'vitest';
import { interruptOwnProcess } from '../../src/platform/signals.ts';

function processWith(platform: NodeJS.Platform, hasListener: boolean) {
  const calls: string[] = [];
  return {
    calls,
    platform,
    pid: 7,
    kill: (pid: number, signal: string) => calls.push(`kill ${pid} ${signal}`),
    emit: (event: string) => {
      calls.push(`emit ${event}`);
      return hasListener;
    },
    exit: (status: number) => calls.push(`exit ${status}`),
  };
}

it.each([
  ['linux', true, ['kill 7 SIGINT']],
  ['darwin', true, ['kill 7 SIGINT']],
  ['win32', true, ['emit SIGINT']],
  ['win32', false, ['emit SIGINT', 'exit 130']],
] as const)('on %s, with a listener: %s', (platform, hasListener, calls) => {
  const target = processWith(platform, hasListener);
  interruptOwnProcess(target);
  expect(target.calls).toEqual(calls);
});
