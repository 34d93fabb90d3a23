// `npm run completions`: writes completions/ from the built program. A test fails when they are outdated.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { root } from './run-vitest.mjs';

const files = { bash: 'cloudctl.bash', zsh: '_cloudctl', fish: 'cloudctl.fish', powershell: 'cloudctl.ps1' };

await build();
mkdirSync(join(root, 'completions'), { recursive: true });
for (const [shell, file] of Object.entries(files)) {
  writeFileSync(
    join(root, 'completions', file),
    execFileSync(process.execPath, [join(root, 'bin/cloudctl.cjs'), 'completion', shell]),
  );
}
