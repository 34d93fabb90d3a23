import { escapeHtmlLines } from '../../../../src/base/sanitize.ts';
import { renderFixScript, renderUndoScript } from '../../../../src/db/preflight/fix-script.ts';
import { modelOf } from '../../../../src/db/preflight/formats/model.ts';
import { renderTerminal, type TerminalOptions } from '../../../../src/db/preflight/formats/terminal.ts';
import type { PreflightReport } from '../../../../src/db/preflight/report.ts';
import { renderReport } from '../../../../src/db/preflight/run-with-files.ts';
import { report } from '../sample.ts';
import { parseXml } from './junit-schema.ts';

/** The report as a file of this name. */
export function rendered(file: string, one: PreflightReport, sarifUri?: string): string {
  return renderReport(file, modelOf(one), '1.2.3', sarifUri) ?? '';
}

/** The report on a terminal, without colours but those of a failure. */
export function onTerminal(one: PreflightReport, options: TerminalOptions = {}): string {
  const same = (text: string): string => text;
  return renderTerminal(modelOf(one), { bold: same, dim: same, red: (text) => `<${text}>`, yellow: same }, options);
}

/** The words of the sample report in a format, for a golden file. Its scripts have golden texts of their own. */
export const wordsOfFormat: Readonly<Record<string, (text: string) => string>> = {
  '.md': (text) => withoutScripts(text),
  '.html': (text) => htmlWords(withoutScripts(text, escapeHtmlLines)),
  '.xml': junitWords,
  '.sarif': sarifWords,
};

function withoutScripts(text: string, escaped = (script: string) => script): string {
  const scripts = { 'FIX SCRIPT': renderFixScript(report), 'UNDO SCRIPT': renderUndoScript(report) };
  return Object.entries(scripts).reduce(
    (left, [name, script = '']) => left.replace(escaped(script.trim()), name),
    text,
  );
}

/** The visible text of a page and of its labels: each block on a line of its own. */
function htmlWords(html: string): string {
  return html
    .replace(/<style>[\s\S]*<\/style>/, '')
    .replaceAll('</dt><dd>', ': ')
    .replaceAll(/<svg[^>]* aria-label="([^"]*)"[^>]*>/g, '[$1] ')
    .replaceAll(/<\/(span|th|td)>/g, ' ')
    .replaceAll(/<\/?(span|strong|code|a|td|th)\b[^>]*>/g, '')
    .replaceAll(/<[^>]+>/g, '\n')
    .replaceAll(/ *\n\s*/g, '\n')
    .replaceAll(/&(lt|gt|quot|#39|amp);/g, (_, name: keyof typeof entities) => entities[name])
    .trim();
}

const entities = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };

function junitWords(xml: string): string {
  const [suite] = parseXml(xml).children;
  return (suite?.children ?? [])
    .flatMap(({ attributes: { classname, name }, children }) => [
      ...(classname === undefined ? [] : [`${classname}: ${name}`]),
      ...children.map((part) => {
        const { name = part.name, message, value } = part.attributes;
        const texts = [message, value, part.text].filter((text) => text !== undefined && text !== '');
        return `  ${name}: ${texts.join('\n').replaceAll('\n', '\n    ')}`;
      }),
    ])
    .join('\n');
}

/** The texts of every rule are made from one pattern, so two rules stand for all. */
function sarifWords(text: string): string {
  const [{ tool, properties, results, invocations }] = JSON.parse(text).runs;
  const rules: readonly SarifRule[] = tool.driver.rules;
  const two = rules.filter(({ id }) => id === 'wal-level' || id === 'replica-identity');
  const found: readonly { readonly message: { readonly text: string } }[] = [
    ...results,
    ...invocations[0].toolExecutionNotifications,
  ];
  return [
    properties.words,
    ...two.flatMap((rule) => [
      rule.shortDescription.text,
      rule.fullDescription.text,
      rule.help.text,
      rule.help.markdown,
    ]),
    ...found.map(({ message }) => message.text),
  ].join('\n\n');
}

interface SarifRule {
  readonly id: string;
  readonly shortDescription: { readonly text: string };
  readonly fullDescription: { readonly text: string };
  readonly help: { readonly text: string; readonly markdown: string };
}
