// What the house is made of: packages, their versions, and what they may do when they come.
import { describe, expect, test } from 'vitest';
import { filesOf, matches, readTree } from '../support/tidy/tree.ts';

const tree = readTree();

type Versions = Record<string, string>;
type Package = {
  dependencies: Versions;
  devDependencies: Versions;
  optionalDependencies: Versions;
  overrides: Versions;
  allowScripts: Record<string, boolean>;
};
type Locked = {
  version?: string;
  resolved?: string;
  integrity?: string;
  hasInstallScript?: boolean;
  link?: boolean;
};
const manifest = JSON.parse(tree.read('package.json')) as Package;
const { packages } = JSON.parse(tree.read('package-lock.json')) as {
  packages: Record<string, Locked>;
};
const locked = Object.entries(packages).filter(([path]) => path !== '');
const nameOf = (path: string): string =>
  path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

const EXACT = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/;

describe('versions', () => {
  test('every version is exact, in package.json and in the lock file', () => {
    const { dependencies, devDependencies, optionalDependencies, overrides } = manifest;
    const wanted = { ...dependencies, ...devDependencies, ...optionalDependencies, ...overrides };
    expect(Object.entries(wanted).filter(([, version]) => !EXACT.test(version))).toEqual([]);
    for (const [name, version] of Object.entries(wanted))
      expect([name, packages[`node_modules/${name}`]?.version]).toEqual([name, version]);
    expect(
      locked.filter(([, { version = '' }]) => !EXACT.test(version)).map(([path]) => path),
    ).toEqual([]);
    expect(tree.read('.npmrc')).toMatch(/^save-exact=true$/m);
  });

  test('every package of the lock file has a hash, and none an address', () => {
    expect(locked.length).toBeGreaterThan(100);
    expect(
      locked
        .filter(([, { integrity = '' }]) => !integrity.startsWith('sha512-'))
        .map(([path]) => path),
    ).toEqual([]);
    expect(
      locked
        .filter(([, { resolved, link }]) => resolved !== undefined || link)
        .map(([path]) => path),
    ).toEqual([]);
    expect(tree.read('.npmrc')).toMatch(/^omit-lockfile-registry-resolved=true$/m);
  });
});

describe('scripts', () => {
  test('whoever would run a script when it is installed is named, and may not', () => {
    const wishing = locked
      .filter(([, { hasInstallScript }]) => hasInstallScript)
      .map(([path]) => nameOf(path));
    const named = Object.keys(manifest.allowScripts);
    expect(wishing.filter((name) => !named.includes(name))).toEqual([]);
    expect(Object.values(manifest.allowScripts).filter(Boolean)).toEqual([]);
  });

  test('what is installed here is installed without scripts', () => {
    const installing = filesOf(
      tree,
      /^(?:Makefile|\.deploy\/.*|\.ci\/.*|test\/image\.ts)$/,
    ).flatMap(({ path, text }) =>
      matches(text, /^(.*\bnpm (?:ci|install|prune)\b.*)$/gm).map((line) => ({ path, line })),
    );
    expect(installing.length).toBeGreaterThan(1);
    expect(installing.filter(({ line }) => !line.includes('--ignore-scripts'))).toEqual([]);
  });
});

/** What Node brings, and what is ours. */
const isPackage = (name: string): boolean => !/^(?:node:|\.)/.test(name);
const packageOf = (name: string): string =>
  name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
/** Run, or read, by their names alone. */
const BY_NAME = new Set(['pg']);

describe('imports', () => {
  test('the service imports what it declares, and declares what it imports', () => {
    const service = filesOf(
      tree,
      /^(?:src\/(?!console\/|sdk\/|cli\/|runtime\/|admin\/client\.ts)|tasks\/).*\.ts$/,
    );
    const imported = new Set(
      service
        .flatMap(({ text }) => [
          ...matches(text, /^(?:import|export) (?!type)[^;]*?from '([^']+)'/gm),
          ...matches(text, /\bimport\('([^']+)'\)/g),
        ])
        .filter(isPackage)
        .map(packageOf),
    );
    const declared = Object.keys(manifest.dependencies);
    expect([...imported].filter((name) => !declared.includes(name))).toEqual([]);
    const tools = filesOf(tree, /^(?:src\/runtime\/|db\/).*\.(?:ts|mjs)$/)
      .map(({ text }) => text)
      .join('\n');
    const idle = declared.filter(
      (name) => !imported.has(name) && !BY_NAME.has(name) && !tools.includes(`'${name}`),
    );
    expect(idle).toEqual([]);
  });
});
