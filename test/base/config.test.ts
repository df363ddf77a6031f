import { describe, expect, test } from 'vitest';
import { describeSettings, readConfig } from '../../src/config.ts';
import { findNeedlessCredentials } from '../../src/config/database_url.ts';

const GOOD = {
  DATABASE_URL: 'postgres://owner:secret@127.0.0.1:5432/app',
  MASTER_KEY: '0123456789abcdef'.repeat(4),
};
const read = (env: Record<string, string | undefined> = {}) =>
  readConfig({ ...GOOD, ...env } as NodeJS.ProcessEnv);

test('two settings are enough; the rest has defaults', () => {
  expect(read()).toEqual({
    databaseUrl: 'postgres://127.0.0.1:5432/app',
    databasePoolUrl: null,
    databaseAuth: 'any',
    ownerDatabaseUrl: GOOD.DATABASE_URL,
    masterKey: Buffer.from(GOOD.MASTER_KEY, 'hex'),
    outerKeys: [{ version: 1, key: Buffer.from(GOOD.MASTER_KEY, 'hex') }],
    role: 'all',
    port: 3000,
    host: '127.0.0.1',
    isPublicUrlSet: false,
    publicUrl: 'http://127.0.0.1:3000',
    stopNoticeMs: 0,
    metricsToken: null,
    logLevel: 'info',
    rateLimitServer: 1_000,
    rateLimitPublishable: 1_000,
    rateLimitAddress: 50,
    rateLimitUnsubscribe: 500,
    rateLimitUnknownKeys: 5,
    unitLimitServer: 20_000,
    unitLimitPublishable: 2_000,
    unitLimitAddress: 100,
    unitLimitAnonymous: 500,
    connectionsMax: 10_000,
    trustedProxies: 0,
    egressAllowNetworks: [],
    dnsServers: [],
    relayApiUrl: 'https://api.smtp2go.com/v3',
    cloudApiUrl: null,
    ehloName: null,
    snsUrl: null,
    answerTimeoutMs: 600_000,
    workerConcurrency: 10,
    retentionMonths: 24,
    failpoint: null,
  });
});

test('the service keeps no credentials of a URL; migrations have the owner’s, or those of the only URL', () => {
  const owner = 'postgres://owner:secret@127.0.0.1:5432/app';
  const pool = 'postgres://pool:secret@127.0.0.1:6432/app';
  expect(read({ OWNER_DATABASE_URL: owner, DATABASE_URL: 'postgres://h/d' })).toMatchObject({
    databaseUrl: 'postgres://h/d',
    ownerDatabaseUrl: owner,
  });
  expect(read({ DATABASE_POOL_URL: pool }).databasePoolUrl).toBe('postgres://127.0.0.1:6432/app');
  expect(
    findNeedlessCredentials({ ...GOOD, OWNER_DATABASE_URL: owner, DATABASE_POOL_URL: pool }),
  ).toEqual(['OWNER_DATABASE_URL', 'DATABASE_URL', 'DATABASE_POOL_URL']);
  expect(findNeedlessCredentials({ DATABASE_URL: 'postgres://h/d' })).toEqual([]);
});

test.each([
  [{ PUBLIC_URL: 'https://mail.shop.example' }, 'https://mail.shop.example'],
  [{ PUBLIC_URL: 'https://shop.example/mail//' }, 'https://shop.example/mail'],
  [{ HOST: '0.0.0.0', PORT: '80' }, 'http://127.0.0.1:80'],
  [{ HOST: '::1' }, 'http://[::1]:3000'],
  [{ HOST: '::' }, 'http://[::1]:3000'],
  [{ HOST: 'localhost' }, 'http://localhost:3000'],
])('links in mails begin where people reach the service: %j', (given, publicUrl) => {
  expect(read(given).publicUrl).toBe(publicUrl);
  expect(read(given).isPublicUrlSet).toBe('PUBLIC_URL' in given);
});

test('what was read cannot be changed', () => {
  expect(Object.isFrozen(read())).toBe(true);
});

test('every problem is named at once', () => {
  const wrong = {
    DATABASE_URL: 'mysql://x',
    MASTER_KEY: 'short',
    ROLE: 'boss',
    PORT: '70000',
    LOG_LEVEL: 'loud',
    EGRESS_ALLOW_NETWORKS: 'home',
    DNS_SERVERS: '192.0.2.53, there',
    RELAY_API_URL: 'here',
    CLOUD_API_URL: 'ftp://x',
    ANSWER_TIMEOUT_SECONDS: '601',
    WORKER_CONCURRENCY: '0',
  };
  expect(() => readConfig(wrong)).toThrow('Cannot start');
  for (const name of Object.keys(wrong)) expect(() => readConfig(wrong)).toThrow(name);
});

test('a failpoint outside tests is named among the other problems, also when settings are missing', () => {
  expect(() => readConfig({ TEST_FAILPOINT: 'mid_body' })).toThrow('DATABASE_URL');
  expect(() => readConfig({ TEST_FAILPOINT: 'mid_body' })).toThrow('MASTER_KEY');
  expect(() => readConfig({ TEST_FAILPOINT: 'mid_body' })).toThrow('TEST_FAILPOINT');
});

test('a problem does not show the value that was wrong', () => {
  for (const [name, value] of [
    ['MASTER_KEY', 'a-secret-value'],
    ['DATABASE_URL', 'user:a-secret-value'],
  ]) {
    let message = '';
    try {
      read({ [name as string]: value });
    } catch (error) {
      message = String(error);
    }
    expect(message).toContain(name);
    expect(message).not.toContain('a-secret-value');
  }
});

describe('each setting has its bounds', () => {
  const GOOD_VALUES = {
    DATABASE_URL: ['postgres://h/d', 'postgresql://u:p@[::1]:5/d?sslmode=require'],
    OWNER_DATABASE_URL: ['postgres://u:p@h/d'],
    MASTER_KEY: ['0'.repeat(64)],
    ROLE: ['api', 'worker', 'all'],
    PORT: ['0', '1', '65535'],
    HOST: ['0.0.0.0', '::', 'localhost'],
    TRUSTED_PROXIES: ['0', '1', '10'],
    RATE_LIMIT_SERVER: ['0', '1', '1000000'],
    RATE_LIMIT_PUBLISHABLE: ['0', '1', '1000000'],
    RATE_LIMIT_ADDRESS: ['0', '1', '1000000'],
    RATE_LIMIT_UNSUBSCRIBE: ['0', '1', '1000000'],
    RATE_LIMIT_UNKNOWN_KEYS: ['0', '1', '1000000'],
    UNIT_LIMIT_SERVER: ['0', '1', '1000000'],
    UNIT_LIMIT_PUBLISHABLE: ['0', '1', '1000000'],
    UNIT_LIMIT_ADDRESS: ['0', '1', '1000000'],
    UNIT_LIMIT_ANONYMOUS: ['0', '1', '1000000'],
    CONNECTIONS_MAX: ['1', '1000000'],
    STOP_NOTICE_SECONDS: ['0', '60'],
    METRICS_TOKEN: ['x'.repeat(16), '!~'.repeat(8)],
    LOG_LEVEL: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    EGRESS_ALLOW_NETWORKS: ['', '10.0.0.0/8', ' 10.0.0.0/32 , fd00::/128,', '0.0.0.0/0,::/0'],
    ANSWER_TIMEOUT_SECONDS: ['1', '600'],
    WORKER_CONCURRENCY: ['1', '100'],
    RETENTION_MONTHS: ['2', '120'],
  };
  const BAD_VALUES = {
    DATABASE_URL: ['', 'localhost', 'http://h/d', 'mysql://h/d', 'postgres://h/d?password=p'],
    OWNER_DATABASE_URL: ['', 'http://h/d', 'postgres://h/d?user=u'],
    MASTER_KEY: ['', '0'.repeat(63), '0'.repeat(65), 'A'.repeat(64), 'g'.repeat(64)],
    ROLE: ['', 'API', 'both'],
    PORT: ['-1', '65536', '3000.5', 'http'],
    HOST: [''],
    TRUSTED_PROXIES: ['', '-1', '11', '1.5', 'all'],
    RATE_LIMIT_SERVER: ['', '-1', '1000001', '0.5', 'none'],
    RATE_LIMIT_PUBLISHABLE: ['', '-1', '1000001', '0.5', 'none'],
    RATE_LIMIT_ADDRESS: ['', '-1', '1000001', '0.5', 'none'],
    RATE_LIMIT_UNSUBSCRIBE: ['', '-1', '1000001', '0.5', 'none'],
    RATE_LIMIT_UNKNOWN_KEYS: ['', '-1', '1000001', '0.5', 'none'],
    UNIT_LIMIT_SERVER: ['', '-1', '1000001', '0.5', 'none'],
    UNIT_LIMIT_PUBLISHABLE: ['', '-1', '1000001', '0.5', 'none'],
    UNIT_LIMIT_ADDRESS: ['', '-1', '1000001', '0.5', 'none'],
    UNIT_LIMIT_ANONYMOUS: ['', '-1', '1000001', '0.5', 'none'],
    CONNECTIONS_MAX: ['', '0', '1000001', '0.5'],
    STOP_NOTICE_SECONDS: ['', '-1', '61', '0.5'],
    METRICS_TOKEN: ['', 'x'.repeat(15), `${'x'.repeat(16)} `, 'ä'.repeat(16)],
    LOG_LEVEL: ['', 'INFO', 'verbose'],
    EGRESS_ALLOW_NETWORKS: [
      '10.0.0.0',
      '10.0.0.0/33',
      'fd00::/129',
      '10.0.0.0/-1',
      '10.0.0/8',
      'a/8',
      '10.0.0.0/',
    ],
    ANSWER_TIMEOUT_SECONDS: ['', '0', '601', '1.5'],
    WORKER_CONCURRENCY: ['0', '101', '1.5', 'many', ''],
    RETENTION_MONTHS: ['', '1', '121', '2.5', 'all'],
  };

  test.each(Object.entries(GOOD_VALUES))('%s takes these', (name, values) => {
    for (const value of values) expect(() => read({ [name]: value })).not.toThrow();
  });

  test.each(Object.entries(BAD_VALUES))('%s refuses these', (name, values) => {
    for (const value of values) expect(() => read({ [name]: value }), value).toThrow(name);
  });

  test('networks are read as a list, without blanks', () => {
    expect(read({ EGRESS_ALLOW_NETWORKS: ' 10.0.0.0/8 ,, fd00::/8 ' }).egressAllowNetworks).toEqual(
      ['10.0.0.0/8', 'fd00::/8'],
    );
  });

  test('a network with two prefixes, or with a zone, is refused', () => {
    for (const network of ['10.0.0.0/8/9', 'fe80::1%eth0/64'])
      expect(() => read({ EGRESS_ALLOW_NETWORKS: network }), network).toThrow();
  });

  test('an empty PORT is not taken for "any free port"', () => {
    for (const PORT of ['', ' ']) {
      let port: number | 'refused' = 'refused';
      try {
        ({ port } = read({ PORT }));
      } catch {
        // Refused is as good as the default.
      }
      expect(port, JSON.stringify(PORT)).not.toBe(0);
    }
  });
});

test('a failpoint needs NODE_ENV=test, whatever else it is called', () => {
  expect(read({ NODE_ENV: 'test', TEST_FAILPOINT: 'mid_body' }).failpoint).toBe('mid_body');
  for (const NODE_ENV of [undefined, '', 'production', 'development', 'TEST'])
    expect(() => read({ NODE_ENV, TEST_FAILPOINT: 'mid_body' })).toThrow('TEST_FAILPOINT');
});

test('--help says of every setting what it is when left out, or that it must be given', () => {
  const said = describeSettings();
  for (const [name, left] of [
    ['MASTER_KEY', 'required'],
    ['PORT', 'default: 3000'],
    ['ROLE', 'default: all'],
    ['RATE_LIMIT_ADDRESS', 'default: 50'],
    ['EGRESS_ALLOW_NETWORKS', 'default: none'],
    ['TEST_FAILPOINT', 'optional'],
  ])
    expect(said).toMatch(new RegExp(`^  ${name} .*\\(${left}\\)$`, 'm'));
});

test('--help lists every setting with a sentence, one to a line', () => {
  const lines = describeSettings().split('\n');
  const names = lines.map((line) => line.trim().split(/ +/)[0]);
  expect(names).toEqual([
    'DATABASE_URL',
    'OWNER_DATABASE_URL',
    'DATABASE_POOL_URL',
    'DATABASE_AUTH',
    'MASTER_KEY',
    'MASTER_KEY_PREVIOUS',
    'ROLE',
    'PORT',
    'HOST',
    'PUBLIC_URL',
    'TRUSTED_PROXIES',
    'RATE_LIMIT_SERVER',
    'RATE_LIMIT_PUBLISHABLE',
    'RATE_LIMIT_ADDRESS',
    'RATE_LIMIT_UNSUBSCRIBE',
    'RATE_LIMIT_UNKNOWN_KEYS',
    'UNIT_LIMIT_SERVER',
    'UNIT_LIMIT_PUBLISHABLE',
    'UNIT_LIMIT_ADDRESS',
    'UNIT_LIMIT_ANONYMOUS',
    'CONNECTIONS_MAX',
    'STOP_NOTICE_SECONDS',
    'METRICS_TOKEN',
    'LOG_LEVEL',
    'EGRESS_ALLOW_NETWORKS',
    'DNS_SERVERS',
    'RELAY_API_URL',
    'CLOUD_API_URL',
    'EHLO_NAME',
    'SNS_URL',
    'ANSWER_TIMEOUT_SECONDS',
    'WORKER_CONCURRENCY',
    'RETENTION_MONTHS',
    'NODE_ENV',
    'TEST_FAILPOINT',
  ]);
  for (const line of lines) expect(line.trim().split(/ {1,}/).length).toBeGreaterThan(2);
});
