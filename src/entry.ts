import { fastToken } from './session/fast-token.ts';
import { version } from './version.ts';

/**
 * The start of the program, a CommonJS bundle of its own: what it can answer by itself costs no more than Node's own start.
 */
async function start(argv: readonly string[]): Promise<void> {
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
    process.stdout.write(`${version}\n`);
    return;
  }
  const token = fastToken(argv, process.env, process.platform, Date.now());
  if (token !== undefined) {
    process.stdout.write(`${token.reveal()}\n`);
    return;
  }
  const { runHere } = await import('./main.ts');
  process.exitCode = await runHere(argv);
}

void start(process.argv.slice(2));
