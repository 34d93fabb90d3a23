/** What `cloudctl doctor` found about one thing (contract.md §7). */
export interface DoctorFinding {
  /** Stable: scripts look for it. */
  readonly id: string;
  readonly status: DoctorStatus;
  /** Facts, without any secret. */
  readonly observed: string;
  /** One action. */
  readonly hint?: string;
}

/** `failed` would stop a login; a `warning` only makes it harder; `skipped` could not be judged because something else failed. */
export type DoctorStatus = 'ok' | 'warning' | 'failed' | 'skipped';

export interface DoctorReport {
  /** A login can work from here. */
  readonly ok: boolean;
  readonly findings: readonly DoctorFinding[];
}

export function createDoctorReport(findings: readonly DoctorFinding[]): DoctorReport {
  return { ok: findings.every(({ status }) => status !== 'failed'), findings };
}
