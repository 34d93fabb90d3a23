import type { Environment } from './host.ts';

export interface UnsafeVariable {
  readonly variable: string;
  readonly value: string;
  /** Ends the sentence "<variable>=<value> …". */
  readonly why: string;
}

/** A setting of Node itself under which a request with secrets must not be made; undefined when there is none. */
export function findUnsafeVariable(env: Environment): UnsafeVariable | undefined {
  const verify = env.NODE_TLS_REJECT_UNAUTHORIZED;
  if (verify === '0') {
    return {
      variable: 'NODE_TLS_REJECT_UNAUTHORIZED',
      value: verify,
      why: 'tells Node not to check who the server is, so secrets could go to anyone',
    };
  }
  const debug = env.NODE_DEBUG;
  if (debug !== undefined && secretPrintingSections.some((section) => debugListPattern(debug).test(section))) {
    return {
      variable: 'NODE_DEBUG',
      value: debug,
      why: 'makes Node print requests with their secrets on standard error',
    };
  }
  return undefined;
}

/** The debug sections that print addresses with their query, headers, or the bytes that arrive (`stream` shows 50 of each piece). */
const secretPrintingSections = ['undici', 'fetch', 'http', 'net', 'stream'];

/** The list as Node itself reads it: commas part it, a star stands for anything, capitals do not matter. */
function debugListPattern(list: string): RegExp {
  const pattern = list
    .replace(/[|\\{}()[\]^$+?.]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll(',', '$|^');
  return new RegExp(`^${pattern}$`, 'i');
}
