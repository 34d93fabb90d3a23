// `node scripts/release.mjs`: a dry run of .github/workflows/release.yml from the last commit, on this machine. It runs the steps in
// their order, each job in a clone of its own; artifacts are passed on. What needs GitHub, Docker or another system, or would change this one, is named and not run.
// `--job NAME,NAME` runs some jobs, `--list` none.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { root } from './run-vitest.mjs';

const { values } = parseArgs({ options: { job: { type: 'string' }, list: { type: 'boolean' } } });
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const workflow = parse(readFileSync(join(root, '.github/workflows/release.yml'), 'utf8'));
const chosen = values.job?.split(',') ?? Object.keys(workflow.jobs);
const work = mkdtempSync(join(tmpdir(), 'cloudctl-release-run-'));
const artifacts = join(work, 'artifacts');
mkdirSync(artifacts);

function runJob(name, job) {
  if (job.steps === undefined) return console.log(`${name}: not run here: ${job.uses}`);
  const { include: [matrix, ...others] = [{}] } = job.strategy?.matrix ?? {};
  for (const other of others) console.log(`${name}: not run here: ${other.name}, on ${other.runner}`);
  const folder = join(work, name);
  mkdirSync(folder);
  for (const step of job.steps) {
    const title = `${name}: ${step.name ?? basename(step.uses.split('@')[0])}`;
    const isRun = runStep(step, { folder, matrix, announce: () => console.log(title) });
    if (!isRun) console.log(`${title}: not run here`);
  }
}

/** Whether the step can be run here; it is run unless the steps are only listed. */
function runStep(step, { folder, matrix, announce }) {
  const value = (text) => String(text).replaceAll(/\$\{\{ (\S+) \}\}/g, (_, name) => contextValue(name, matrix));
  const condition = /^runner\.os == '(\w+)'$/.exec(step.if ?? "runner.os == 'Linux'");
  if (condition === null) throw new Error(`the condition ${step.if} is not one of those that are known here`);
  if (condition[1] !== 'Linux') return false;
  const action = step.uses?.split('@')[0];
  const isOfGitHub = Object.values(step.env ?? {}).some((text) => text.includes('github.token'));
  const isOfDocker = /^docker /m.test(step.run ?? '') && spawnSync('docker', ['version']).status !== 0;
  const changesSystem = step.run?.startsWith('sudo ') === true;
  const run =
    step.run === undefined ? actions[action] : isOfGitHub || isOfDocker || changesSystem ? undefined : runScript;
  if (run === undefined) return false;
  announce();
  if (!values.list) run({ step, folder, value });
  return true;
}

function contextValue(name, matrix) {
  const known = {
    'github.ref_name': `v${version}`,
    'matrix.name': matrix.name,
    'vars.NODE_IMAGE': process.env.NODE_IMAGE ?? '',
  };
  if (known[name] === undefined) throw new Error(`the expression ${name} has no value here`);
  return known[name];
}

/** What stands for the actions here. */
const actions = {
  'actions/checkout': ({ folder }) => execFileSync('git', ['clone', '--quiet', '--no-hardlinks', root, folder]),
  'actions/setup-node': () => {},
  'actions/upload-artifact'({ step, folder, value }) {
    const lines = step.with.path.trim().split('\n');
    const left = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    for (const path of lines.filter((line) => !line.startsWith('!')).flatMap((line) => filesOf(folder, line)))
      if (!left.includes(path)) cpSync(join(folder, path), join(artifacts, value(step.with.name), basename(path)));
  },
  'actions/download-artifact'({ step, folder }) {
    for (const path of readdirSync(artifacts).flatMap((name) => filesOf(artifacts, `${name}/*`)))
      cpSync(join(artifacts, path), join(folder, step.with.path, basename(path)));
  },
};

/** `FOLDER/*`, or a file. */
function filesOf(folder, pattern) {
  const below = dirname(pattern);
  return basename(pattern) === '*' ? readdirSync(join(folder, below)).map((name) => join(below, name)) : [pattern];
}

/** As a runner does. */
function runScript({ step, folder, value }) {
  const env = Object.fromEntries(Object.entries(step.env ?? {}).map(([name, text]) => [name, value(text)]));
  const words = ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step.run];
  const cwd = join(folder, step['working-directory'] ?? '.');
  execFileSync('bash', words, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'inherit', 'inherit'] });
}

try {
  for (const [name, job] of Object.entries(workflow.jobs)) if (chosen.includes(name)) runJob(name, job);
} finally {
  rmSync(work, { recursive: true, force: true });
}
