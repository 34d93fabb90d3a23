import type { CliError } from '../base/errors.ts';
import { sanitizeLine } from '../base/sanitize.ts';

/** The result of one check of `cloudctl doctor`. */
export interface DoctorFinding {
  /** The id of the check, which never changes, so that scripts can use it. */
  readonly id: string;
  readonly status: DoctorStatus;
  /** What the check observed, as text without any secret. */
  readonly observed: string;
  /** One action. */
  readonly hint?: string;
}

/** `failed`: a login would fail. `warning`: a login works, but differently. `skipped`: an earlier check failed. */
export type DoctorStatus = 'ok' | 'warning' | 'failed' | 'skipped';

export interface DoctorReport {
  /** Whether no check has failed. */
  readonly ok: boolean;
  readonly findings: readonly DoctorFinding[];
}

export function createDoctorReport(findings: readonly DoctorFinding[]): DoctorReport {
  return { ok: findings.every(({ status }) => status !== 'failed'), findings };
}

/** The finding of a check that threw an error. */
export function buildFailedDoctorFinding(id: string, { message, detail, hint }: CliError): DoctorFinding {
  const observed = sanitizeLine(detail === undefined ? message : `${message}: ${detail}`);
  return { id, status: 'failed', observed, ...(hint === undefined ? {} : { hint }) };
}
