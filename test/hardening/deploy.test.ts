// What operators start with: every file of `.deploy` gives its processes no more rights than they use.
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { WORKER_NODE_OPTIONS } from '../../src/runtime/start_service.ts';
import { matches, readTree } from '../support/tidy/tree.ts';

const tree = readTree();
const DEPLOY = join(import.meta.dirname, '..', '..', '.deploy');

type Container = {
  image: string;
  user?: string;
  read_only?: boolean;
  privileged?: boolean;
  cap_drop?: string[];
  cap_add?: string[];
  security_opt?: string[];
  pids_limit?: number;
  mem_limit?: string;
  env_file?: string[];
  environment?: Record<string, string>;
  secrets?: string[];
  networks?: string[];
  ports?: string[];
  volumes?: string[];
};
const compose = parse(tree.read('.deploy/compose.yaml'), { merge: true }) as {
  services: Record<string, Container>;
  networks: Record<string, { internal?: boolean }>;
  secrets: Record<string, { file: string }>;
};
const containers = Object.entries(compose.services);

test('every file that starts a worker gives Node the same options', () => {
  const options = `NODE_OPTIONS=${WORKER_NODE_OPTIONS.join(' ')}\n`;
  expect(tree.read('.deploy/node_options.worker')).toBe(options);
  expect(tree.read('.deploy/trunkline@.service')).toContain(
    'EnvironmentFile=-/opt/trunkline/.deploy/node_options.%i\n',
  );
  expect(compose.services['worker']).toMatchObject({ env_file: ['node_options.worker'] });
  expect(compose.services['api']).not.toHaveProperty('env_file');
});

describe('compose.yaml', () => {
  test.each(containers)(
    '%s cannot write to its image, gains no rights and has bounds',
    (_, container) => {
      expect(container).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        pids_limit: expect.any(Number),
        mem_limit: expect.any(String),
      });
      expect([container.cap_add, container.privileged]).toEqual([undefined, undefined]);
      expect(['node', 'postgres']).toContain(container.user);
    },
  );

  test('the api alone has a port, on the loopback address', () => {
    expect(
      containers.flatMap(([name, { ports = [] }]) => ports.map((port) => [name, port])),
    ).toEqual([['api', '127.0.0.1:3000:3000']]);
  });

  test('Postgres is on a network without an outside, and the job that migrates, too', () => {
    expect(compose.networks['database']).toEqual({ internal: true });
    for (const name of ['postgres', 'migrate'])
      expect(compose.services[name]?.networks).toEqual(['database']);
  });

  test('no secret is in an environment: each is a file, outside of the repository', () => {
    for (const [name, { environment = {} }] of containers)
      for (const [setting, value] of Object.entries(environment)) {
        expect([name, setting]).not.toEqual([
          name,
          expect.stringMatching(/(?:KEY|PASSWORD|TOKEN)$/),
        ]);
        expect([name, setting, value]).not.toEqual([
          name,
          setting,
          expect.stringMatching(/:\/\/[^/]*@/),
        ]);
      }
    for (const { file } of Object.values(compose.secrets)) expect(file).toMatch(/^secrets\/\w+$/);
    expect(tree.read('.gitignore')).toMatch(/^\.deploy\/secrets\/$/m);
  });

  test('api and worker have no credentials of the owner; the job that migrates has', () => {
    for (const name of ['api', 'worker']) {
      const { environment = {}, secrets } = compose.services[name] ?? {};
      expect(secrets).toEqual(['master_key']);
      expect(Object.keys(environment).filter((setting) => setting.startsWith('OWNER_'))).toEqual(
        [],
      );
      expect(new URL(environment['DATABASE_URL'] ?? '')).toMatchObject({
        username: '',
        password: '',
      });
    }
    expect(compose.services['migrate']?.secrets).toEqual(['master_key', 'owner_database_url']);
  });

  test('within the container of Postgres, too, every connection needs its password', () => {
    expect(compose.services['postgres']?.environment?.['POSTGRES_INITDB_ARGS']).toBe(
      '--auth=scram-sha-256',
    );
  });
});

/** Images that a tag alone names: it can name another one tomorrow. A setting without a default has to be a pin. */
const findUnpinned = (text: string): string[] =>
  matches(text, /^\s*(?:FROM|image:)\s+(\S+)/gm).filter(
    (image) =>
      !/@sha256:[0-9a-f]{64}$/.test(image) &&
      !/^\$\{\w+(?::\?.*)?\}?$/.test(image) &&
      image !== 'trunkline',
  );

describe('images', () => {
  test.each(['.deploy/Dockerfile', '.deploy/compose.yaml'])(
    '%s names none by a tag alone',
    (path) => {
      expect(findUnpinned(tree.read(path))).toEqual([]);
    },
  );

  test('a tag without a digest is noticed', () => {
    expect(
      findUnpinned('FROM node:26 AS build\nFROM node@sha256:1\n  image: postgres:18\n'),
    ).toEqual(['node:26', 'node@sha256:1', 'postgres:18']);
    expect(findUnpinned('  image: ${POSTGRES_IMAGE:-postgres:18}')).toHaveLength(1);
    const pinned = `node:26@sha256:${'a'.repeat(64)}`;
    expect(findUnpinned(`FROM ${pinned}\nFROM \${NODE_IMAGE}\nimage: \${A:?run it}`)).toEqual([]);
  });

  test('a setting that names an image has no default, and the build refuses one without a digest', () => {
    const dockerfile = tree.read('.deploy/Dockerfile');
    expect(dockerfile).toMatch(/^ARG NODE_IMAGE$/m);
    const [check = ''] = matches(dockerfile, /^RUN (case .*esac)$/gm);
    const build = (NODE_IMAGE: string) =>
      spawnSync('/bin/sh', ['-c', check], { env: { NODE_IMAGE }, encoding: 'utf8' });
    expect(build('node:26')).toMatchObject({
      status: 1,
      stderr: 'NODE_IMAGE needs a digest: run "make image-digests".\n',
    });
    expect(build(`node:26@sha256:${'a'.repeat(64)}`).status).toBe(0);
  });

  test('each pin of an image is a digest', ({ skip }) => {
    skip(!tree.paths.includes('.deploy/.env'), 'no images are pinned: no registry was reachable');
    const pins = matches(tree.read('.deploy/.env'), /^\w+_IMAGE=(.*)$/gm);
    expect(pins).toHaveLength(2);
    for (const image of pins) expect(image).toMatch(/@sha256:[0-9a-f]{64}$/);
  });

  test('the process of the image is no root', () => {
    expect(matches(tree.read('.deploy/Dockerfile'), /^USER (.*)$/gm)).toEqual(['node']);
  });
});

const UNITS = ['trunkline@.service', 'trunkline-migrate.service'];
/** What each unit says, at least. */
const RESTRICTIONS = {
  NoNewPrivileges: 'yes',
  CapabilityBoundingSet: '',
  AmbientCapabilities: '',
  DynamicUser: 'yes',
  PrivateUsers: 'yes',
  PrivateTmp: 'yes',
  PrivateDevices: 'yes',
  ProtectSystem: 'strict',
  ProtectHome: 'yes',
  ProtectClock: 'yes',
  ProtectControlGroups: 'yes',
  ProtectHostname: 'yes',
  ProtectKernelLogs: 'yes',
  ProtectKernelModules: 'yes',
  ProtectKernelTunables: 'yes',
  ProtectProc: 'invisible',
  ProcSubset: 'pid',
  RestrictAddressFamilies: 'AF_INET AF_INET6 AF_UNIX',
  RestrictNamespaces: 'yes',
  RestrictRealtime: 'yes',
  RestrictSUIDSGID: 'yes',
  LockPersonality: 'yes',
  RemoveIPC: 'yes',
  UMask: '0077',
  SystemCallArchitectures: 'native',
};
/** Of 10, as `systemd-analyze security` counts: what the units have is 1.3. */
const EXPOSURE_MAX = 1.5;

const settingsOf = (unit: string): [name: string, value: string][] =>
  [...tree.read(`.deploy/${unit}`).matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [
    name,
    value,
  ]);

describe.each(UNITS)('%s', (unit) => {
  test('has no right that the process does not use', () => {
    expect(Object.fromEntries(settingsOf(unit))).toMatchObject(RESTRICTIONS);
    const filters = settingsOf(unit).filter(([name]) => name === 'SystemCallFilter');
    expect(filters.map(([, value]) => value)).toEqual([
      '@system-service',
      '~@privileged @resources',
    ]);
    // V8 writes machine code and runs it: with this, no process of Node starts.
    expect(settingsOf(unit)).toContainEqual(['MemoryDenyWriteExecute', 'no']);
  });

  test('has its secrets as credentials, not in its environment', () => {
    const loaded = settingsOf(unit)
      .filter(([name]) => name === 'LoadCredential')
      .map(([, value]) => value.split(':')[0]);
    expect(loaded).toEqual(
      unit.includes('migrate') ? ['master_key', 'owner_database_url'] : ['master_key'],
    );
    const environment = settingsOf(unit)
      .filter(([name]) => name === 'Environment')
      .map(([, value]) => value)
      .join(' ');
    expect(environment).toContain('MASTER_KEY_FILE=%d/master_key');
    expect(environment).not.toMatch(/(?:MASTER_KEY|DATABASE_URL)=/);
  });

  test('is little exposed, by the count of systemd', ({ skip }) => {
    const isHere = spawnSync('systemd-analyze', ['--version']).status === 0;
    skip(!isHere, 'there is no systemd-analyze on this machine');
    const folder = mkdtempSync(join(tmpdir(), 'units-'));
    const file = join(folder, unit.replace('@', '@api'));
    copyFileSync(join(DEPLOY, unit), file);
    const said = execFileSync(
      'systemd-analyze',
      ['security', '--offline=true', '--no-pager', file],
      { encoding: 'utf8' },
    );
    rmSync(folder, { recursive: true });
    const [, exposure] = /exposure level for \S+: ([\d.]+)/.exec(said) ?? [];
    expect(Number(exposure)).toBeLessThanOrEqual(EXPOSURE_MAX);
  });
});
