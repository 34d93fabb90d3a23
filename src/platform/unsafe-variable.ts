import type { ProcessEnvironment } from './host.ts';

export interface UnsafeVariable {
  readonly variable: string;
  readonly value: string;
  /** The reason completes the sentence "<variable>=<value> …". */
  readonly why: string;
}

/** Finds an environment variable of Node that would expose secrets of requests; returns undefined when there is none. */
export function unsafeVariable(env: ProcessEnvironment): UnsafeVariable | undefined {
  const verify = env.NODE_TLS_REJECT_UNAUTHORIZED;
  if (verify === '0') {
    return {
      variable: 'NODE_TLS_REJECT_UNAUTHORIZED',
      value: verify,
      why: 'disables the verification of certificates, so secrets could be sent to another server',
    };
  }
  const debug = env.NODE_DEBUG;
  if (debug !== undefined && secretPrintingSections.some((section) => debugListPattern(debug).test(section))) {
    return {
      variable: 'NODE_DEBUG',
      value: debug,
      why: 'prints requests with their secrets on standard error',
    };
  }
  return undefined;
}

/** Sections of NODE_DEBUG that print URLs with their query, headers, or received bytes (`stream` prints 50 bytes of each chunk). */
const secretPrintingSections = ['undici', 'fetch', 'http', 'net', 'stream'];

/** Interprets the list of NODE_DEBUG as Node does: separated by commas, `*` matches any text, case is ignored. */
function debugListPattern(list: string): RegExp {
  const pattern = list
    .replace(/[|\\{}()[\]^$+?.]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll(',', '$|^');
  return new RegExp(`^${pattern}$`, 'i');
}
