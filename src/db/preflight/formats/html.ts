import { escapeHtml } from '../../../base/sanitize.ts';
import { type Entry, type Fresh, freshSentences, namesOf, type Observation, type Part } from './entries.ts';
import {
  databaseReasons,
  databaseRows,
  databaseTable,
  fixLinesOf,
  limitation,
  type Model,
  stepSentences,
} from './model.ts';
import { barsOf, cardOf, codesOf, factsOf, foldOf, listOf, pageOf, preOf, proseOf, tableOf } from './page.ts';

/** Renders the report as an HTML page: first the verdict and what to run, then each finding once, by severity. */
export function renderHtml(model: Model): string {
  const { report, source, server, totals, problems, others, fixScript, undoScript } = model;
  const { started_at: startedAt, duration_ms: duration, queries } = report;
  const fresh = freshSentences();
  const count = others.reduce((sum, { ids }) => sum + ids.length, 0);
  const otherRows = others.map(({ status, ids, title, place, observed }) => [
    status,
    `${escapeHtml(title)}${placeOf(place)}<br><code class="soft">${escapeHtml(ids.join(', '))}</code>`,
    escapeHtml(observed),
  ]);
  return pageOf({
    title: `Preflight of ${source}: ${report.verdict}`,
    kind: report.verdict,
    header: [
      `<p class="tag">${report.verdict}</p>`,
      `<h1>${escapeHtml(model.sentence)}</h1>`,
      `<p class="soft">${escapeHtml([source, ...server, ...totals].join(' · '))}</p>`,
    ],
    main: [
      summary(model, fresh),
      '<h2>Findings</h2>',
      ...(problems.length === 0 ? ['<p>Every check passed.</p>'] : problems.map((one) => finding(one, model, fresh))),
      databases(model),
      ...[fixScript ?? []].flat().map((text) => script('Fix script', howToFix, text)),
      ...[undoScript ?? []].flat().map((text) => script('Undo script', howToUndo, text)),
      otherRows.length === 0
        ? ''
        : foldOf('Other checks', tableOf(['Status', 'Check', 'Observed'], otherRows), { note: String(count) }),
    ],
    footer: `Checked ${escapeHtml(startedAt)} in ${(duration / 1000).toFixed(1)} s with ${queries} read-only statements. ${limitation}`,
  });
}

/** Cards side by side: what blocks the migration method, what to run, and what else to know. */
function summary(model: Model, fresh: Fresh): string {
  const { report, blockers, premises, losses, rows, estimate } = model;
  const { target, method, ok } = report;
  const blocking = blockers.map(
    ({ first, title, place }) => `<a href="#${escapeHtml(first.id)}">${escapeHtml(title)}</a>${placeOf(place)}`,
  );
  const about = [
    ['Requested method', `${method}: ${ok ? 'possible' : 'not possible'}`],
    ['Target', target.version === undefined ? undefined : `version ${escapeHtml(target.version)}`],
    ['Cluster', target.cluster_uuid === undefined ? undefined : escapeHtml(target.cluster_uuid)],
    ['Estimated duration', estimate],
  ] as const;
  const cards = [
    cardOf(`What blocks the ${method} migration`, listOf(blocking)),
    whatToRun(model, fresh),
    cardOf('Open premises', listOf(premises.map(({ text, advice }) => proseOf(`${text}. ${advice}`)))),
    cardOf('Not migrated', listOf(losses.map(proseOf))),
    cardOf('Rows', listOf(rows.map(proseOf))),
    cardOf('About this check', factsOf(about, 'facts')),
  ];
  return `<div class="cards">\n${cards.filter((one) => one !== '').join('\n')}\n</div>`;
}

function whatToRun(model: Model, fresh: Fresh): string {
  const { report, steps } = model;
  const { amount, statements, restart } = steps;
  const sentences = stepSentences(model, fresh);
  if (report.ok || (amount === undefined && sentences.length === 0)) return '';
  const isShort = statements.length > 0 && statements.length <= 5;
  const lines = statements.map(({ database, sql }) => `${database === undefined ? '' : `-- in ${database}\n`}${sql}`);
  const how = isShort
    ? preOf([...lines, ...(restart && report.engine !== 'redis' ? ['-- then restart the server'] : [])])
    : '<p>Run the <a href="#fix-script">fix script</a>, section by section.</p>';
  const script = amount === undefined ? '' : `<p class="amount">${escapeHtml(amount)}</p>${how}`;
  return cardOf('What to run', `${script}${sentences.map((one) => `<p>${proseOf(one)}</p>`).join('')}`);
}

function finding({ ids, status, title, place, first, parts }: Entry, { report }: Model, fresh: Fresh): string {
  const { blocks, only, fix } = first;
  const facts = [
    codesOf(ids),
    place === '' ? 'server' : `${escapeHtml(place)}${only === undefined ? '' : ' of the server'}`,
    ...(blocks.length === 0 ? [] : [`blocks ${blocks.join(' and ')}`]),
    ...(fix?.restart === true ? ['<strong>restart</strong>'] : fix?.reload === true ? ['reload'] : []),
  ];
  return `<section class="finding ${first.status}" id="${escapeHtml(first.id)}">
<h3><span class="tag">${status}</span>${escapeHtml(title)}</h3>
<p class="meta">${facts.join(' · ')}</p>
${parts
  .flatMap((part) => [...partOf(part, fresh), preOf(fixLinesOf(part, report))])
  .filter((one) => one !== '')
  .join('\n')}
</section>`;
}

function partOf({ reason, observations, first, detail, fix }: Part, fresh: Fresh): readonly string[] {
  const [why, what] = [detail, fix].map((one) => {
    const text = one === undefined ? undefined : fresh(one.text);
    const example = one?.exampleOf === undefined ? '' : `In <code>${escapeHtml(one.exampleOf)}</code>, for example: `;
    return text === undefined ? '' : `${example}${proseOf(text)}`;
  });
  return [
    reason === undefined ? '' : `<h4>${escapeHtml(reason.charAt(0).toUpperCase() + reason.slice(1))}</h4>`,
    values(observations, first.required),
    why === '' ? '' : `<p>${why}</p>`,
    fix === undefined ? '' : `<p><strong>Fix.</strong> ${what === '' ? 'As above.' : what}</p>`,
  ];
}

/** The observed value beside the required one; several values are a table. */
function values(observations: readonly Observation[], required: string | undefined): string {
  const needed = required === undefined ? undefined : escapeHtml(required);
  const [only, ...more] = observations;
  if (only !== undefined && more.length === 0) {
    const facts = [
      ['Observed', `<strong>${escapeHtml(only.observed)}</strong>`],
      ['Required', needed],
      ['Objects', only.objects.length === 0 ? undefined : codesOf(only.objects)],
      ['Databases', only.databases.length < 2 ? undefined : namesHtml(only.databases)],
    ] as const;
    return factsOf(facts, 'values');
  }
  const rows = observations.map((one) => [namesHtml(one.databases), escapeHtml(one.observed), codesOf(one.objects)]);
  const table = tableOf(['Database', 'Observed', 'Objects'], rows);
  const before = needed === undefined ? '' : factsOf([['Required', needed]], 'values');
  return `${before}${foldOf(`${rows.length} different results`, table, { isOpen: rows.length <= 5 })}`;
}

function namesHtml(names: readonly string[]): string {
  return names.length <= 6 ? codesOf(names) : foldOf(escapeHtml(namesOf(names, 3)), codesOf(names));
}

function databases(model: Model): string {
  const { databases: all } = model.report;
  if (all.length === 0) return '';
  const [titles = [], ...cells] = databaseTable(model);
  const bars = barsOf(
    all.flatMap(({ name, size_bytes: size }) => (size === undefined ? [] : [{ name, size }])),
    12,
  );
  const each = cells.map(([name = '', ...others]) => [codesOf([name]), ...others.map(escapeHtml)]);
  const table = tableOf(titles, each, 'stack');
  if (all.length <= 12) return `<h2>Databases</h2>${bars}${table}`;
  const rows = databaseRows(model, 12).map(({ names, verdict, contents, reasons }) => [
    names.length === 1 ? codesOf(names) : `${names.length} databases`,
    ...[verdict, contents, reasons].map(escapeHtml),
  ]);
  const groups = tableOf(['Databases', 'Verdict', 'Contents', databaseReasons], rows);
  return `<h2>Databases</h2>${bars}${groups}\n${foldOf(`All ${all.length} databases`, table)}`;
}

const howToFix =
  'All fixes, in the order in which they must run. Each section states who must run it. A click selects the whole script.';
const howToUndo = 'This script restores the values that were observed before the fixes. Run it after the migration.';

function script(title: string, how: string, text: string): string {
  const lines = text.trimEnd().split('\n').length;
  return foldOf(title, `<p class="soft">${how}</p>${preOf([text])}`, {
    id: title.toLowerCase().replace(' ', '-'),
    note: `${lines} lines`,
    isOpen: lines <= 60,
  });
}

function placeOf(place: string): string {
  return place === '' ? '' : ` <span class="soft">in ${escapeHtml(place)}</span>`;
}
