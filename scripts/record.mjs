// `npm run record`: types commands in a real terminal, logs in with a real browser, and draws both as the animated picture
// docs/session.svg for the README.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { build } from './build.mjs';
import { startPostgres } from './postgres.mjs';
import { root } from './run-vitest.mjs';
import { startSandbox } from './sandbox.mjs';
import { drawSession } from './terminal-svg.mjs';

const columns = 80;
const rows = 34;
/** Of the browser beside the terminal, in CSS pixels. */
const page = { width: 380, height: 670 };

const home = mkdtempSync(join(tmpdir(), 'cloudctl-'));
const source = startPostgres({ version: 17, settings: { wal_level: 'replica', listen_addresses: '*' } });
let sandbox;
let browser;
try {
  await build();
  for (const folder of ['bin', 'runtime']) mkdirSync(join(home, folder), { mode: 0o700 });
  program('cloudctl', `exec '${process.execPath}' '${root}/bin/cloudctl.cjs' "$@"`);
  program('browser', `printf '%s\\n' "$1" >"$HOME/url"`);
  const env = {
    PATH: `${join(home, 'bin')}:${process.env.PATH}`,
    HOME: home,
    XDG_RUNTIME_DIR: join(home, 'runtime'),
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    PAGER: 'cat',
    PS1: '\\[\\e[1;32m\\]$\\[\\e[0m\\] ',
    PROMPT_COMMAND: 'echo $? >"$HOME/status"',
    BROWSER: join(home, 'bin/browser'),
  };
  sandbox = await startSandbox(env);
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  const server = await source;
  await server.query('CREATE DATABASE shop');
  await server.query('CREATE TABLE visits (id int PRIMARY KEY); INSERT INTO visits VALUES (1)', 'shop');
  const session = await play({
    ...env,
    CLOUDCTL_PROFILE: 'sandbox',
    PGPASSWORD: server.password,
    SOURCE: `postgres://postgres@127.0.0.1:${server.port}/shop?sslmode=disable`,
  });
  const picture = drawSession({ ...session, columns, rows, page });
  writeFileSync(join(root, 'docs/session.svg'), picture);
  console.log(
    `docs/session.svg: ${session.screens.length} screens, ${session.pages.length} pages, ${Math.round(picture.length / 1024)} KiB`,
  );
} finally {
  await browser?.close();
  await sandbox?.stop();
  await source.then((server) => server.stop());
  rmSync(home, { recursive: true, force: true });
}

function program(name, line) {
  writeFileSync(join(home, 'bin', name), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
}

/** What the terminal and the browser showed, with the times in milliseconds. */
async function play(env) {
  const terminal = startTerminal(env);
  const pages = [];
  try {
    await terminal.idle();
    const context = await browser.newContext({ viewport: page, deviceScaleFactor: 1.5, colorScheme: 'light' });
    const tab = await context.newPage();
    const devtools = await context.newCDPSession(tab);
    const photograph = async (hold) => {
      // Half as large as the JPEG that playwright could take.
      const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: 40 });
      const { host, pathname } = new URL(tab.url());
      pages.push({
        at: terminal.now(),
        address: tab.url().startsWith('file:') ? 'preflight.html' : host + pathname,
        image: Buffer.from(data, 'base64'),
      });
      await terminal.hold(hold);
    };
    await terminal.type('cloudctl auth login --scope "read write"');
    await until(() => existsSync(join(home, 'url')), 'the login opens the browser');
    await terminal.hold(600);
    await logIn(tab, readFileSync(join(home, 'url'), 'utf8').trim(), photograph);
    await terminal.idle();
    await terminal.hold(2500);

    terminal.clear();
    await terminal.run(
      "cloudctl droplets create 'app-{01..08}' --size s-1vcpu-1gb --image debian-12-x64 --region fra1 --wait",
    );
    await terminal.hold(1500);
    await terminal.run("cloudctl droplets list 'app-*'");
    await tab.goto(`${sandbox.ready.panel_url}/droplets`);
    await tab.getByText('app-08').scrollIntoViewIfNeeded();
    await photograph(3000);

    terminal.clear();
    await terminal.run(
      'cloudctl db preflight --source "$SOURCE" --target-version 18 --fix-sql fix.sql --report preflight.html',
      3,
    );
    await tab.goto(`file://${join(home, 'preflight.html')}`);
    await photograph(5000);
    return { screens: terminal.screens, pages, length: terminal.now() };
  } finally {
    terminal.stop();
  }
}

/** Signs in and authorizes on the pages of the sandbox. */
async function logIn(tab, url, photograph) {
  const [person] = sandbox.ready.users;
  await tab.goto(url);
  await tab.getByLabel('E-mail address').fill(person.email);
  await tab.getByLabel('Password').fill(person.password);
  await photograph(1500);
  await tab.getByRole('button', { name: 'Sign in' }).click();
  await tab.getByRole('button', { name: 'Authorize application' }).focus();
  await photograph(2500);
  await tab.getByRole('button', { name: 'Authorize application' }).click();
  await tab.waitForURL(/\/done\//);
  await photograph(300);
}

/**
 * A shell in tmux. Its clock is that of the picture: it runs while something changes on the screen, and where `hold` lets a
 * person read.
 */
function startTerminal(env) {
  const socket = join(home, 'runtime/tmux');
  const settings = join(home, 'tmux.conf');
  writeFileSync(settings, 'set -g status off\nset -g default-terminal screen-256color\n');
  const tmux = (...words) => {
    const ran = spawnSync('tmux', ['-u', '-S', socket, '-f', settings, ...words], { env, encoding: 'utf8' });
    if (ran.status !== 0) throw new Error(`tmux ${words[0]} failed: ${ran.stderr}`);
    return ran.stdout;
  };
  const size = ['-x', String(columns), '-y', String(rows)];
  tmux('new-session', '-d', ...size, '-c', home, '--', 'bash', '--norc', '--noprofile');
  const screens = [];
  let clock = 0;
  const look = () => {
    const screen = tmux('capture-pane', '-p', '-e').trimEnd();
    if (screen === screens.at(-1)?.screen) return;
    clock += 60;
    screens.push({ at: clock, screen });
  };
  const isIdle = () => /(^|\n)\$ ?$/.test(tmux('capture-pane', '-p').trimEnd());
  const terminal = {
    screens,
    now: () => clock,
    hold: async (ms) => {
      look();
      clock += ms;
    },
    idle: async (expected = 0) => {
      await until(() => {
        look();
        return isIdle();
      }, 'the command ends');
      look();
      const status = readFileSync(join(home, 'status'), 'utf8').trim();
      if (status !== String(expected)) throw new Error(`the command ended with ${status}:\n${screens.at(-1).screen}`);
    },
    type: async (line) => {
      for (const part of line.match(/.{1,4}/g)) {
        tmux('send-keys', '-l', '--', part);
        await sleep(40);
        look();
      }
      clock += 400;
      tmux('send-keys', 'Enter');
      await sleep(100);
    },
    run: async (line, expected = 0) => {
      await terminal.type(line);
      await terminal.idle(expected);
    },
    clear: () => tmux('send-keys', 'C-l'),
    stop: () => spawnSync('tmux', ['-S', socket, 'kill-server'], { env }),
  };
  return terminal;
}

async function until(isTrue, what) {
  for (const end = performance.now() + 60_000; !isTrue(); await sleep(50))
    if (performance.now() > end) throw new Error(`waited too long: ${what}`);
}
