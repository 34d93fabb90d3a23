import { escapeUnprintable } from '../../../base/sanitize.ts';
import type { InventoryReport } from '../report.ts';
import { renderHtmlSourceInventory } from './render-html-source-inventory.ts';
import { renderMarkdownSourceInventory } from './render-markdown-source-inventory.ts';

/** Renders the report in the format that the file extension selects; undefined if there is no such format. */
export function renderSourceInventoryReport(file: string, report: InventoryReport): string | undefined {
  const name = file.toLowerCase();
  if (name.endsWith('.json')) return `${escapeUnprintable(JSON.stringify(report, null, 2))}\n`;
  if (name.endsWith('.md')) return renderMarkdownSourceInventory(report);
  return name.endsWith('.html') ? renderHtmlSourceInventory(report) : undefined;
}
