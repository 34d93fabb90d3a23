import { escapeUnprintable } from '../../sanitize/json-text.ts';
import type { InventoryReport } from '../inventory-report.ts';
import { renderHtmlInventory } from './render-html-inventory.ts';
import { renderMarkdownInventory } from './render-markdown-inventory.ts';

/** Renders the report in the format that the file extension selects; undefined if there is no such format. */
export function renderInventoryReport(file: string, report: InventoryReport): string | undefined {
  const name = file.toLowerCase();
  if (name.endsWith('.json')) return `${escapeUnprintable(JSON.stringify(report, null, 2))}\n`;
  if (name.endsWith('.md')) return renderMarkdownInventory(report);
  return name.endsWith('.html') ? renderHtmlInventory(report) : undefined;
}
