// docs/benchmarks.md and its pictures, from docs/benchmarks.json, which `npm run bench:report` writes. `npm run docs` draws them again.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../scripts/run-vitest.mjs';

const titles = { start: 'version', token: 'print the token', list: 'list of 20', help: 'help' };
const measures = Object.keys(titles);

/**
 * The page, the pictures and the README with its numbers, by path.
 * @param {any} [result] the numbers; by default those of the last report
 * @returns {Record<string, string>}
 */
export function benchmarkPages(result = JSON.parse(readFileSync(join(root, 'docs/benchmarks.json'), 'utf8'))) {
  const { date, commit, machine, measured, failed } = result;
  const [pictures, sections] = [{}, []];
  for (const [name, section] of Object.entries(parts)) {
    if (measured[name] === undefined) {
      sections.push(`## ${section.title}\n\nNot measured: ${failed[name]}`);
      continue;
    }
    const { text, rows, chart } = section.of(measured[name]);
    const path = `benchmarks/${name}.svg`;
    if (chart.groups.some(({ bars }) => bars.length > 0)) pictures[`docs/${path}`] = drawBars(chart);
    const picture = `docs/${path}` in pictures ? `\n\n![${chart.label}](${path})` : '';
    sections.push(`## ${section.title}\n\n${text}\n\n${table(rows)}${picture}`);
  }
  const text = `# Benchmarks

All numbers of this page are of one run of \`npm run bench:report\`, on ${date.slice(0, 10)}, of commit ${commit}: ${machine.processor}, ${machine.cores} cores, ${machine.memory} GB, ${machine.system}, Node ${machine.node}, load ${machine.load} at the start. The databases and the service are on the same machine. The numbers as JSON are in \`benchmarks.json\` beside this page in the repository.

${sections.join('\n\n')}
`;
  return { 'docs/benchmarks.md': text, 'README.md': readmeWith(measured.startup), ...pictures };
}

/** The sentence of the README that compares two tools has the numbers of the page. */
function readmeWith(startup) {
  const text = readFileSync(join(root, 'README.md'), 'utf8');
  const [own, gh] = ['cloudctl', 'gh'].map((name) => startup?.tools.find((tool) => tool.name === name)?.token);
  if (own === undefined || gh === undefined) return text;
  const sentence = /takes \d+ ms of CPU time, with gh \d+ ms/;
  if (!sentence.test(text)) throw new Error('the README no longer compares the time to print a token');
  return text.replace(sentence, `takes ${own.ms.toFixed(0)} ms of CPU time, with gh ${gh.ms.toFixed(0)} ms`);
}

const parts = {
  startup: {
    title: 'Start-up beside other tools',
    of({ rounds, bare, tools, missing, gaps }) {
      const cell = (one) => (one === undefined ? '' : `${one.ms.toFixed(0)} ms (${one.ratio.toFixed(1)})`);
      const notes = [
        ...missing.map((name) => `${name} was not installed`),
        ...gaps.map((gap) => `not measured: ${gap}`),
      ];
      return {
        text: `CPU time, user and system, median of ${rounds} runs; the tools take turns. In parentheses: as a multiple of a bare \`node -e 0\` (${bare.toFixed(0)} ms) in the same round. An empty cell: the tool has no such command, or none that works without its own service. The lists come over HTTP without TLS. curl, gh and doctl are native programs.${notes.map((note) => ` ${sentenceOf(note)}`).join('')}`,
        rows: [
          ['tool', ...measures.map((measure) => titles[measure])],
          ...tools.map((tool) => [`${tool.name} ${tool.version}`, ...measures.map((measure) => cell(tool[measure]))]),
        ],
        chart: {
          label: 'CPU time of each tool in milliseconds',
          unit: 'ms',
          groups: measures.map((measure) => ({
            title: titles[measure],
            bars: tools.flatMap((tool) =>
              tool[measure] === undefined ? [] : [{ name: tool.name, value: tool[measure].ms }],
            ),
          })),
        },
      };
    },
  },
  batch: {
    title: 'A batch beside a bare loop',
    of({ rounds, batchSize, connections, servers, memory }) {
      const names = Object.keys(servers[0].rates);
      const [few, many] = memory;
      return {
        text: `Droplets a second, median of ${rounds} runs: \`droplets create\`, which records each name on disk before it is sent, and a program that only sends the same requests (${batchSize} names each, ${connections} at once). Memory: ${few.megabytes.toFixed(0)} MB at ${few.names} names, ${many.megabytes.toFixed(0)} MB at ${many.names}.`,
        rows: [
          ['server', 'names', ...names],
          ...servers.map(({ delay, names: count, rates }) => [
            serverOf(delay),
            String(count),
            ...names.map((name) => rates[name].toFixed(0)),
          ]),
        ],
        chart: {
          label: 'Droplets created each second',
          unit: '/s',
          groups: servers.map(({ delay, names: count, rates }) => ({
            title: `${count} names, ${serverOf(delay)}`,
            bars: barsOf(rates),
          })),
        },
      };
    },
  },
  preflight: {
    title: 'A preflight beside bare statements',
    of({ rounds, databases, tables, version, milliseconds, memory }) {
      return {
        text: `Best of ${rounds} runs, ${databases} databases of ${tables} tables on ${version}: all checks, a loop that sends the same statements over as many connections, and one that only connects. The preflight takes ${memory.toFixed(0)} MB.`,
        rows: [['what', 'time'], ...Object.entries(milliseconds).map(([name, ms]) => [name, `${ms.toFixed(0)} ms`])],
        chart: {
          label: 'Milliseconds of a preflight',
          unit: 'ms',
          groups: [{ title: `${databases} databases of ${tables} tables`, bars: barsOf(milliseconds) }],
        },
      };
    },
  },
  copy: {
    title: 'A copy beside pg_dump and pgcopydb',
    of({ rounds, tables, rows, from, to, seconds, missing }) {
      return {
        text: `Best of ${rounds} runs, ${tables} tables of ${rows} rows, PostgreSQL ${from} to ${to}: an online migration until everything is replicated, and tools that copy once and then end.${missing.map((name) => ` ${sentenceOf(`${name} was not installed`)}`).join('')}`,
        rows: [['what', 'time'], ...Object.entries(seconds).map(([name, time]) => [name, `${time.toFixed(1)} s`])],
        chart: {
          label: 'Seconds of a copy',
          unit: 's',
          groups: [{ title: `${tables} tables of ${rows} rows`, bars: barsOf(seconds) }],
        },
      };
    },
  },
  cutover: {
    title: 'Seconds of a cut-over',
    of({ rounds, pairs }) {
      return {
        text: `Median of ${rounds} runs of \`db cutover --follow --apply\`, from the last write of an application that writes 20 times a second to a source without replication. The comparison reads both sides; COPY is the time to read the slower one.`,
        rows: [
          ['engine', 'size', 'in all', 'of it the comparison', 'COPY'],
          ...pairs.map(({ name, size, fixed, comparison, copy }) => [
            name,
            size,
            `${(fixed + comparison).toFixed(1)} s`,
            `${comparison.toFixed(1)} s`,
            copy === undefined ? '' : `${copy.toFixed(1)} s`,
          ]),
        ],
        chart: {
          label: 'Seconds of a cut-over',
          unit: 's',
          groups: pairs.map(({ name, size, fixed, comparison, copy }) => ({
            title: `${name}, ${size}`,
            bars: [
              { name: 'cut-over', value: fixed + comparison, isOwn: true },
              { name: 'its comparison', value: comparison, isOwn: true },
              ...(copy === undefined ? [] : [{ name: 'COPY', value: copy }]),
            ],
          })),
        },
      };
    },
  },
};

function serverOf(delay) {
  return delay === 0 ? 'a server that answers at once' : `a server that takes ${delay} ms`;
}

function barsOf(values) {
  return Object.entries(values).map(([name, value]) => ({ name, value, isOwn: name.startsWith('cloudctl') }));
}

function sentenceOf(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** @param {string[][]} lines the first one is the head */
function table(lines) {
  const [head = [], ...rows] = lines;
  const line = (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [
    line(head),
    `|---|${head
      .slice(1)
      .map(() => '---:|')
      .join('')}`,
    ...rows.map(line),
  ].join('\n');
}

/**
 * An SVG picture of horizontal bars in titled groups. It has a background of its own: a page shows it as an image, which knows the
 * colours of the system and not those of the page.
 */
function drawBars({ groups, unit, label }) {
  const [rowHeight, width, margin] = [22, 460, 16];
  const bars = groups.flatMap((group) => group.bars);
  // Letters of 13 px are about 7 px wide.
  const left = margin + 16 + 7 * Math.max(...bars.map(({ name }) => name.length));
  const most = Math.max(...bars.map(({ value }) => value));
  const parts = [];
  let y = 0;
  for (const { title, bars: own } of groups.filter((group) => group.bars.length > 0)) {
    y += 34;
    parts.push(`<text x="${margin}" y="${y}" class="title">${escaped(title)}</text>`);
    y += 10;
    for (const { name, value, isOwn = name === 'cloudctl' } of own) {
      const length = Math.max(2, Math.round((value / most) * width));
      parts.push(
        `<text x="${left - 8}" y="${y + 14}" text-anchor="end">${escaped(name)}</text>`,
        `<rect x="${left}" y="${y + 2}" width="${length}" height="15" class="${isOwn ? 'own' : 'bar'}"/>`,
        `<text x="${left + length + 6}" y="${y + 14}">${value.toFixed(unit === 's' ? 1 : 0)} ${unit}</text>`,
      );
      y += rowHeight;
    }
  }
  const styles = [
    'text{font:13px sans-serif;fill:#24292f}.title{font-weight:bold}.back{fill:#fff}.bar{fill:#8c959f}.own{fill:#0969da}',
    '@media(prefers-color-scheme:dark){text{fill:#e6edf3}.back{fill:#0d1117}.bar{fill:#6e7681}.own{fill:#4493f8}}',
  ];
  const [wide, high] = [left + width + 90, y + 14];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${wide} ${high}" width="${wide}" height="${high}" role="img" aria-label="${escaped(label)}">
<style>${styles.join('')}</style>
<rect width="${wide}" height="${high}" rx="6" class="back"/>
${parts.join('\n')}
</svg>
`;
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
