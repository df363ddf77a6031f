// What `npm pack` packs besides the browser SDK: the server SDK and the client of the admin API, each as one module
// with its types, and the command line as one program.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { SDK_FOLDER } from '../base/sdk_folder.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** What Node 18 and every runtime with fetch understands. */
const TARGET = 'es2022';

type Part = { name: string; entry: string; types: string[]; external: (string | RegExp)[] };

const SERVER: Part = { name: 'server', entry: 'src/sdk/server/server.ts', types: [], external: [] };
const ADMIN: Part = {
  name: 'admin',
  entry: 'src/admin/client.ts',
  types: ['node'],
  external: ['@trpc/client'],
};

/** Takes along what it asks the service with: `npx` installs nothing beside it. */
const CLI: Part = { name: 'cli', entry: 'src/cli/main.ts', types: [], external: [/^node:/] };

/** Puts what an entry needs into one module. */
const bundle = async ({ entry, external }: Part): Promise<string> => {
  const { build } = await import('vite');
  const [built] = (await build({
    configFile: false,
    logLevel: 'warn',
    build: {
      target: TARGET,
      write: false,
      minify: false,
      lib: { entry: join(ROOT, entry), formats: ['es'] },
      rollupOptions: { external },
    },
  })) as { output: { code: string }[] }[];
  const [chunk, ...others] = built?.output ?? [];
  if (!chunk || others.length > 0) throw new Error(`${entry} does not become one module`);
  return chunk.code;
};

/** Writes the declarations of an entry, and of all that it names, as `src` has them. */
const declare = async ({ entry, types }: Part, folder: string): Promise<void> => {
  const config = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      lib: ['es2024', ...(types.length === 0 ? ['dom'] : [])],
      types,
      rootDir: join(ROOT, 'src'),
      outDir: folder,
    },
    files: [join(ROOT, entry)],
    include: [],
    exclude: [],
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const tsc = createRequire(import.meta.url).resolve('typescript/package.json');
  const args = [join(dirname(tsc), 'bin', 'tsc'), '-p', folder];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const said: string[] = [];
  child.stdout.on('data', (chunk) => said.push(String(chunk)));
  const [exitCode] = (await once(child, 'close')) as [number | null];
  if (exitCode !== 0) throw new Error(`${entry} has type errors:\n${said.join('')}`);
};

/** What a client has no use for, or would need another package for. */
const IN_OWN_WORDS: Record<string, string> = {
  ProcedureContext: 'type ProcedureContext = object;',
  JSONType:
    'type JSONType = string | number | boolean | null | JSONType[] | { [name: string]: JSONType };',
};

const NAMED = /\bimport\("((?!@trpc\/)[^"]+)"\)\.(\w+)/g;

/** The declaration of a name in a module of the service, as it is written there. */
const findDeclaration = async (file: string, name: string): Promise<string> => {
  const own = IN_OWN_WORDS[name];
  if (own !== undefined) return own;
  const text = await readFile(file, 'utf8');
  const pattern = new RegExp(
    `^export ((?:declare const|type) ${name}\\b(?:.*;|[\\s\\S]*?\n[\\])}].*;))$`,
    'm',
  );
  const [, declaration] = pattern.exec(text) ?? [];
  if (declaration === undefined)
    throw new Error(`the admin router's type names ${name} of ${file}`);
  return declaration;
};

/** The type of the router by itself: what it names of the service stands in front of it. */
const withoutService = async (file: string): Promise<string> => {
  const declared = await readFile(file, 'utf8');
  const named = new Map(
    [...declared.matchAll(NAMED)].map(([, from = '', name = '']) => [name, from]),
  );
  const declarations: string[] = [];
  for (const [name, from] of named) {
    const module = join(dirname(file), from.replace(/\.ts$/, '.d.ts'));
    declarations.push(await findDeclaration(module, name));
  }
  return [...declarations, declared.replaceAll(NAMED, '$2')].join('\n');
};

const buildServer = async (folder: string): Promise<void> => {
  await mkdir(join(folder, 'types'), { recursive: true });
  await declare(SERVER, join(folder, 'types'));
  const declared = join(folder, 'types', 'sdk', 'server');
  for (const name of await readdir(declared))
    await rename(join(declared, name), join(folder, name));
  await writeFile(join(folder, 'server.js'), await bundle(SERVER));
};

const buildAdmin = async (folder: string): Promise<void> => {
  await mkdir(join(folder, 'types'), { recursive: true });
  await declare(ADMIN, join(folder, 'types'));
  const declared = (name: string) => join(folder, 'types', 'admin', name);
  await rename(declared('client.d.ts'), join(folder, 'client.d.ts'));
  await writeFile(join(folder, 'router.d.ts'), await withoutService(declared('router.d.ts')));
  await writeFile(join(folder, 'client.js'), await bundle(ADMIN));
};

const buildCli = async (folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'trunkline.js'), await bundle(CLI), { mode: 0o755 });
};

/** Builds all of them into a folder, file by file: whoever packs meanwhile gets each file whole. */
export const buildPackage = async (folder = SDK_FOLDER): Promise<void> => {
  await mkdir(folder, { recursive: true });
  const made = await mkdtemp(join(folder, 'building-'));
  try {
    await buildServer(join(made, 'server'));
    await buildAdmin(join(made, 'admin'));
    await buildCli(join(made, 'cli'));
    for (const part of ['server', 'admin', 'cli']) {
      await rm(join(made, part, 'types'), { recursive: true, force: true });
      await mkdir(join(folder, part), { recursive: true });
      for (const name of await readdir(join(made, part)))
        await rename(join(made, part, name), join(folder, part, name));
    }
  } finally {
    await rm(made, { recursive: true, force: true });
  }
};

if (import.meta.main) await buildPackage();
