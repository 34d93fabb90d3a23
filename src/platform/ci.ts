import type { ProcessEnvironment } from './host.ts';

/** `CI=false`, `CI=0` and an empty `CI` have the same effect as an absent `CI`. */
export function isCi(env: ProcessEnvironment): boolean {
  return !['', '0', 'false'].includes(env.CI ?? '');
}
