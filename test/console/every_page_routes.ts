import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const CONSOLE = join(import.meta.dirname, '..', '..', 'src', 'console');
const DECLARED =
  /const (?<name>\w+) = createRoute\(\{\s*getParentRoute: \(\) => (?<parent>\w+),\s*(?<what>path|id): '(?<at>[^']+)'/g;

type Declared = { name: string; parent: string; what: string; at: string };

/** Every page that the Console's routes lead to, by its whole path, read from their declarations. */
export const readRoutes = (): string[] => {
  const texts = globSync('*.tsx', { cwd: CONSOLE }).map((file) =>
    readFileSync(join(CONSOLE, file), 'utf8'),
  );
  const declared = texts.flatMap((text) =>
    [...text.matchAll(DECLARED)].map(({ groups }) => groups as Declared),
  );
  const count = texts.join('').split('createRoute({').length - 1;
  if (declared.length !== count)
    throw new Error(`of ${count} routes, ${declared.length} are declared in a way that is known`);
  const prefixOf = (name: string): string => {
    const route = declared.find((one) => one.name === name);
    if (!route) return '';
    return prefixOf(route.parent) + (route.what === 'path' ? route.at : '');
  };
  const layouts = new Set(declared.map(({ parent }) => parent));
  return declared
    .filter(({ name }) => !layouts.has(name))
    .map(({ name }) => prefixOf(name).replace(/(?<=.)\/$/, ''))
    .toSorted();
};
