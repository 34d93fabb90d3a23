import { writeSync } from 'node:fs';
import { version } from './version.ts';

/**
 * The start of the program, a CommonJS bundle of its own: what it can answer by itself costs little more than Node's own
 * start. Modules that are imported lazily here are in the bundle, but only run when they are wanted.
 */
async function start(argv: readonly string[]): Promise<void> {
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) return printLine(version);
  let isBlocked = false;
  if (argv[0] === 'auth' && argv[1] === 'token') {
    const { fastPathToken } = await import('./session/fast-path-token.ts');
    const token = await fastPathToken(argv, process.env, process.platform, Date.now(), () => {
      isBlocked = true;
    });
    if (token !== undefined) return printLine(token.reveal());
  }
  const { runOnSystem } = await import('./main.ts');
  process.exitCode = await runOnSystem(argv);
  if (isBlocked) (await import('./platform/read-keychain-quickly.ts')).endBlockedProcess(process.exitCode);
}

/** Straight to the descriptor: making process.stdout costs more than everything else here. */
function printLine(line: string): void {
  let text = `${line}\n`;
  try {
    // Versions and tokens are ASCII, so bytes are characters.
    while (text !== '') text = text.slice(writeSync(1, text));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    // A pipe that is full for the moment is waited for; that nobody reads any more is no failure.
    if (code === 'EAGAIN') process.stdout.write(text);
    else if (code !== 'EPIPE') {
      process.stderr.write(`error: could not write to standard output: ${code}\n`);
      process.exitCode = 1;
    }
  }
}

void start(process.argv.slice(2));
