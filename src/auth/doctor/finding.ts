import type { CliError } from '../../base/errors.ts';
import { sanitizeLine } from '../../base/sanitize.ts';
import { countOf } from '../../base/text.ts';

/** The result of one check of `cloudctl doctor`. */
export interface Finding {
  /** The id of the check, which never changes, so that scripts can use it. */
  readonly id: string;
  readonly status: Status;
  /** What the check observed, as text without any secret. */
  readonly observed: string;
  /** One action. */
  readonly hint?: string;
}

/** `failed`: a login would fail. `warning`: a login works, but differently. `skipped`: an earlier check failed. */
type Status = 'ok' | 'warning' | 'failed' | 'skipped';

export interface DoctorReport {
  /** Whether no check has failed. */
  readonly ok: boolean;
  readonly findings: readonly Finding[];
}

export function doctorReport(findings: readonly Finding[]): DoctorReport {
  return { ok: findings.every(({ status }) => status !== 'failed'), findings };
}

/** The finding of a check that threw an error. */
export function failedFinding(id: string, { message, detail, hint }: CliError): Finding {
  const observed = sanitizeLine(detail === undefined ? message : `${message}: ${detail}`);
  return { id, status: 'failed', observed, ...(hint === undefined ? {} : { hint }) };
}

/** One sentence about all findings, with the ids of those that need attention. @param aim what a failed check prevents */
export function summarize(findings: readonly Finding[], aim: string): string {
  const idsOf = (wanted: Status) => findings.filter(({ status }) => status === wanted).map(({ id }) => id);
  const [failed, warnings] = [idsOf('failed'), idsOf('warning')];
  const result =
    failed.length === 0
      ? `No problem found that would prevent ${aim}.`
      : `${countOf(failed.length, 'failed check prevents', 'failed checks prevent')} ${aim}: ${failed.join(', ')}.`;
  return warnings.length === 0 ? result : `${result} ${countOf(warnings.length, 'warning')}: ${warnings.join(', ')}.`;
}
