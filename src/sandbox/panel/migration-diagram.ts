import { html } from 'hono/html';
import type { HtmlMarkup } from '../http/http-reply.ts';
import { getSandboxMigrationDeadline } from '../migration-store.ts';
import type { SandboxMigration } from '../records.ts';
import { formatElapsedTime } from './listing.ts';

export interface MigrationDiagramOptions {
  readonly migration: SandboxMigration;
  /** `host:port/database` of the source. */
  readonly source: string;
  readonly target: string;
  readonly status: string;
  /** The end of the migration in milliseconds of the virtual clock; the present time while the migration runs. */
  readonly until: number;
}

/** Renders source, status and target in a row, and below the row how much of the time limit of two weeks has passed. */
export function renderMigrationDiagram({
  migration,
  source,
  target,
  status,
  until,
}: MigrationDiagramOptions): HtmlMarkup {
  const elapsed = Math.max(0, until - migration.startedAt);
  const total = getSandboxMigrationDeadline(migration) - migration.startedAt;
  const kind = status === 'error' || status === 'canceled' ? 'bad' : 'good';
  return html`<div class="flow">
<p class="end"><span class="soft">Source</span> <strong>${source}</strong></p>
<p class="link"><span class="badge ${kind}">${status}</span></p>
<p class="end"><span class="soft">Target</span> <strong>${target}</strong></p>
</div>
${renderHtmlHorizontalBar(`${formatElapsedTime(elapsed)} of two weeks`, [{ kind: 'done', share: elapsed / total }])}`;
}

export interface HorizontalBarSegment {
  readonly kind: 'done' | 'active' | 'early';
  /** The part of the width of the bar, from 0 to 1. */
  readonly share: number;
}

/** A horizontal bar. The width that the parts do not fill stays empty. */
export function renderHtmlHorizontalBar(label: string, parts: readonly HorizontalBarSegment[]): HtmlMarkup {
  const widths = parts.map(({ share }) => Math.min(1, Math.max(0, share)) * 100);
  const rectangles = parts.map(({ kind }, at) => {
    const before = widths.slice(0, at).reduce((sum, width) => sum + width, 0);
    return html`<rect class="${kind}" x="${before.toFixed(2)}" width="${(widths[at] ?? 0).toFixed(2)}" height="8"/>`;
  });
  return html`<p class="bar"><svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="empty" width="100" height="8"/>${rectangles}</svg> <span>${label}</span></p>`;
}
