import { expect, it } from 'vitest';
import { htmlPreflightReportStyle } from '../../../../src/db/preflight/formats/html-report-style.ts';

it('the style loads nothing, and every rule is closed', () => {
  expect(htmlPreflightReportStyle).not.toMatch(/url\(|@import|<\//);
  expect(htmlPreflightReportStyle.split('{')).toHaveLength(htmlPreflightReportStyle.split('}').length);
});
