import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/**
 * A folder of src with a door is imported through its `index.ts`, which only passes names on. esbuild would put everything that
 * a door passes on into the packs of each command that uses one name of it, so the build imports the files behind the door.
 */
export function throughDoors() {
  const doors = new Map();
  return {
    name: 'doors',
    setup(build) {
      build.onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
        const text = readFileSync(path, 'utf8');
        const contents = text.replaceAll(
          /^import \{([^}]*)\} from '([^']*\/index\.ts)';/gm,
          (whole, names, specifier) => {
            const door = join(dirname(path), specifier);
            if (!doors.has(door)) doors.set(door, passedOn(door));
            const files = doors.get(door);
            const imports = names
              .split(',')
              .map((name) => name.trim())
              .filter((name) => name !== '' && !name.startsWith('type '));
            if (imports.some((name) => !files.has(name))) return whole;
            return imports
              .map(
                (name) =>
                  `import { ${name} } from './${relative(dirname(path), files.get(name)).replaceAll('\\', '/')}';`,
              )
              .join(' ');
          },
        );
        return { contents, loader: 'ts', resolveDir: dirname(path) };
      });
    },
  };
}

/** The file behind each name that a door passes on. */
function passedOn(door) {
  const lines = readFileSync(door, 'utf8').matchAll(/^export \{([^}]*)\} from '([^']+)';/gm);
  return new Map(
    [...lines].flatMap(([, names, file]) => names.split(',').map((name) => [name.trim(), join(dirname(door), file)])),
  );
}
