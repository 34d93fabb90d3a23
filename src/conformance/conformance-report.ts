/** The result of testing one statement, or of observing one open choice. */
export interface ConformanceResult {
  /** The number of a statement, or the id of an open choice. */
  readonly id: string;
  readonly section: string;
  readonly text: string;
  readonly status: ConformanceStatus;
  /** Why the statement was not tested. */
  readonly reason?: string;
  /** For `differs`: what the statement requires, what was sent and what was received. */
  readonly expected?: string;
  readonly sent?: string;
  readonly received?: string;
  /** For an open choice: what the server does in each case, and the cases in which the sandbox does something else. */
  readonly observed?: Readonly<Record<string, string>>;
  readonly unlike_sandbox?: readonly string[];
}

export type ConformanceStatus = 'holds' | 'differs' | 'open_choice' | 'not_testable';

export interface ConformanceReport {
  readonly auth_url: string;
  readonly base_url: string;
  /** Whether nothing differs. */
  readonly ok: boolean;
  readonly writes: boolean;
  readonly counts: Readonly<Record<ConformanceStatus, number>>;
  readonly started_at: string;
  readonly duration_ms: number;
  readonly results: readonly ConformanceResult[];
  /** The objects that the run created on the server and could not remove. */
  readonly left: readonly string[];
}

/** One line about a result: the reason, the difference or the observations. */
export function describeConformanceResult(result: ConformanceResult): string {
  const { status, reason, expected, sent, received, observed = {} } = result;
  if (status === 'not_testable') return reason ?? '';
  if (status === 'differs' && expected !== undefined)
    return `expected ${expected}; sent ${sent ?? ''}; received ${received ?? ''}`;
  return Object.entries(observed)
    .map(([name, value]) => `${name}: ${value}`)
    .join('; ');
}
