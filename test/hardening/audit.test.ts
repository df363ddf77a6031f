// `make audit` asks a registry. Here it is one at a socket, which says what the test wants.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const BULK = '/-/npm/v1/security/advisories/bulk';

type Ran = { code: number; stdout: string; stderr: string };
type Advice = Record<string, { severity: string }>;

const audit = (registry: string): Promise<Ran> =>
  new Promise((resolve) => {
    // A cache of its own: npm keeps what it was told of a weakness.
    const cache = mkdtempSync(join(tmpdir(), 'trunkline-npm-'));
    onTestFinished(() => rmSync(cache, { recursive: true, force: true }));
    const env = { npm_config_registry: registry, npm_config_cache: cache };
    // Not synchronous: the registry is in this process.
    execFile(
      'env',
      [...Object.entries(env).map(([k, v]) => `${k}=${v}`), 'node', 'test/audit.ts'],
      { cwd: ROOT },
      (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });

/** A registry that knows a weakness of each of these packages, whatever its version, and nothing else. */
const openRegistry = async (advice: Advice | null): Promise<string> => {
  const server = createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json');
    if (advice === null || request.url !== BULK) {
      response.writeHead(404).end('{}');
      return;
    }
    const known = Object.entries(advice).map(([name, { severity }]) => [
      name,
      [
        {
          id: 1,
          url: 'https://advisories.test/1',
          title: 'of a test',
          severity,
          vulnerable_versions: '*',
        },
      ],
    ]);
    response.end(JSON.stringify(Object.fromEntries(known)));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
};

test.each(['high', 'critical'])(
  'a %s weakness in a package that the service runs with fails the audit',
  async (severity) => {
    const { code, stderr } = await audit(await openRegistry({ koa: { severity } }));
    expect([code, stderr]).toEqual([1, expect.stringContaining(`${severity}: koa`)]);
  },
);

test('a weakness that is less than high is counted and fails nothing', async () => {
  const { code, stdout } = await audit(await openRegistry({ koa: { severity: 'moderate' } }));
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/^[1-9]\d* weaknesses in packages of the service/m),
  ]);
});

test('a high weakness in a tool alone is counted and fails nothing', async () => {
  const { code, stdout } = await audit(await openRegistry({ prettier: { severity: 'high' } }));
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/^0 weaknesses in packages of the service, [1-9]\d* in tools$/m),
  ]);
});

test('a registry that knows nothing bad passes the audit', async () => {
  const { code, stdout } = await audit(await openRegistry({}));
  expect([code, stdout]).toEqual([
    0,
    expect.stringContaining('0 weaknesses in packages of the service, 0'),
  ]);
});

test('a registry that does not answer the audit passes it, and the reason is said', async () => {
  const { code, stdout } = await audit(await openRegistry(null));
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/^not audited: the registry does not answer the audit: .*404/m),
  ]);
});
