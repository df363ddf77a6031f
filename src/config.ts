import { isIP } from 'node:net';
import { z } from 'zod';
import { findNeedlessCredentials, postgresUrl, withoutCredentials } from './config/database_url.ts';
import { MASTER_KEY_FORM, readMasterKey } from './config/master_key.ts';
import { readSettingFiles } from './config/setting_files.ts';

const ROLES = ['api', 'worker', 'all'] as const;
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const isNetwork = (text: string): boolean => {
  const [, address = '', prefix] = /^([0-9a-fA-F.:]+)\/(\d{1,3})$/.exec(text) ?? [];
  const family = isIP(address);
  return family !== 0 && Number(prefix) <= (family === 4 ? 32 : 128);
};

const isNameServer = (text: string): boolean => {
  const [, bracketed, address = bracketed ?? '', port = '53'] =
    /^(?:\[([0-9a-fA-F:]+)\]|([0-9.]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  return isIP(address) !== 0 && Number(port) <= 65_535;
};

const list = (isItem: (text: string) => boolean, error: string) =>
  z
    .string()
    .default('')
    .transform((items) =>
      items
        .split(',')
        .map((item) => item.trim())
        .filter(Boolean),
    )
    .refine((items) => items.every(isItem), error);

/** Only digits: what JavaScript takes for a number besides (nothing, blanks, 1e3) is a mistake here. */
const wholeNumber = (least: number, most: number) =>
  z
    .string()
    .regex(/^-?\d+$/, 'a whole number')
    .transform(Number)
    .pipe(z.int().min(least).max(most));

const apiUrl = z.url({ protocol: /^https?$/, error: 'an address such as https://api.example.com' });
/** Where a service that nobody has said an address of is reached from its own machine. */
const localUrl = (host: string, port: number): string => {
  const reached = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${isIP(reached) === 6 ? `[${reached}]` : reached}:${port}`;
};

/** What RFC 5321 asks of a client that waits for the answer to a message. */
const ANSWER_TIMEOUT_SECONDS_MAX = 600;

const RATE_LIMIT_MAX = 1_000_000;
const limit = (perSecond: number, what: string) =>
  wholeNumber(0, RATE_LIMIT_MAX).default(perSecond).describe(`${what}; 0 for no limit`);

/** The least holds whatever a page's key may write to, and a month that is over before it goes. */
const RETENTION_MONTHS_MIN = 2;
const RETENTION_MONTHS_MAX = 120;
/** As long as a balancer may take to look again. */
const STOP_NOTICE_SECONDS_MAX = 60;
const CONNECTIONS_BOUND = 1_000_000;
const METRICS_TOKEN_CHARS_MIN = 16;

const Settings = z.object({
  DATABASE_URL: postgresUrl.describe(
    "the database; the service signs in as its own two roles and ignores the URL's credentials",
  ),
  OWNER_DATABASE_URL: postgresUrl
    .optional()
    .describe("the owner's connection, for migrations and make only; DATABASE_URL without it"),
  DATABASE_POOL_URL: postgresUrl
    .optional()
    .describe('the same database through a transaction-pooling proxy, for requests and jobs'),
  DATABASE_AUTH: z
    .enum(['any', 'scram-sha-256'])
    .default('any')
    .describe('how the database may ask for passwords; scram-sha-256 refuses every other way'),
  MASTER_KEY: z
    .string('required: 32 random bytes as 64 hexadecimal digits')
    .regex(MASTER_KEY_FORM, '32 bytes as 64 lower-case hexadecimal digits')
    .describe('what all keys and passwords are derived from; keep it outside the database'),
  MASTER_KEY_PREVIOUS: z
    .string()
    .regex(MASTER_KEY_FORM, 'what MASTER_KEY was before')
    .optional()
    .describe('what MASTER_KEY was before it was rotated, until "make rotate-master-key" is done'),
  ROLE: z.enum(ROLES).default('all').describe('api, worker, or both in one process'),
  PORT: wholeNumber(0, 65_535).default(3000).describe('HTTP port; 0 takes a free one'),
  HOST: z.string().min(1).default('127.0.0.1').describe('address to listen on; 0.0.0.0: every one'),
  PUBLIC_URL: apiUrl
    .optional()
    .describe(
      'address that people open: emails link to it, the Console answers only there; needed for marketing email',
    ),
  TRUSTED_PROXIES: wholeNumber(0, 10)
    .default(0)
    .describe('reverse proxies in front that append to X-Forwarded-For; 0 ignores the header'),
  RATE_LIMIT_SERVER: limit(1_000, 'requests a second per server key, and per webhook of a project'),
  RATE_LIMIT_PUBLISHABLE: limit(1_000, 'requests a second per publishable key'),
  // A twentieth of what its key has: one address takes as much of a daily quota at most.
  RATE_LIMIT_ADDRESS: limit(50, 'requests a second per address, with publishable keys'),
  RATE_LIMIT_UNSUBSCRIBE: limit(500, 'requests a second per address, for unsubscribe links'),
  RATE_LIMIT_UNKNOWN_KEYS: limit(5, 'unknown keys a second per address'),
  UNIT_LIMIT_SERVER: limit(
    20_000,
    'units of work (one per event) a second per server key, and per webhook of a project',
  ),
  UNIT_LIMIT_PUBLISHABLE: limit(2_000, 'units a second per publishable key'),
  UNIT_LIMIT_ADDRESS: limit(100, 'units a second per address, with publishable keys'),
  UNIT_LIMIT_ANONYMOUS: limit(500, 'units a second per anonymous id, with publishable keys'),
  CONNECTIONS_MAX: wholeNumber(1, CONNECTIONS_BOUND)
    .default(10_000)
    .describe(
      'connections at a time per process; for one more, one without a request under way is closed',
    ),
  STOP_NOTICE_SECONDS: wholeNumber(0, STOP_NOTICE_SECONDS_MAX)
    .default(0)
    .describe('seconds an api answers on after SIGTERM, not ready'),
  METRICS_TOKEN: z
    .string()
    .min(METRICS_TOKEN_CHARS_MIN, `at least ${METRICS_TOKEN_CHARS_MIN} characters`)
    .regex(/^[\x21-\x7e]*$/, 'visible ASCII characters')
    .optional()
    .describe('bearer token for /metrics; without one /metrics answers only on this machine'),
  LOG_LEVEL: z.enum(LOG_LEVELS).default('info').describe(LOG_LEVELS.join(', ')),
  EGRESS_ALLOW_NETWORKS: list(
    isNetwork,
    'a comma-separated list of networks such as 10.0.0.0/8,fd00::/8',
  ).describe('private networks that providers may live in, such as 10.0.0.0/8'),
  DNS_SERVERS: list(
    isNameServer,
    'a comma-separated list of addresses such as 192.0.2.53,[2001:db8::53]:5353',
  ).describe("name servers to ask about providers and senders' domains, instead of the system's"),
  RELAY_API_URL: apiUrl
    .default('https://api.smtp2go.com/v3')
    .describe("base address of SMTP2GO's API, for providers of type relay_api"),
  CLOUD_API_URL: apiUrl
    .optional()
    .describe("base address of Amazon SES instead of each region's own, such as a proxy's"),
  EHLO_NAME: z
    .string()
    .regex(/^[a-z\d](?:[a-z\d.-]{0,252}[a-z\d])?$/i, 'a host name')
    .optional()
    .describe("host name that mail connections introduce themselves with instead of the machine's"),
  SNS_URL: apiUrl
    .optional()
    .describe('whom to ask about SNS topics and certificates instead of Amazon; for tests'),
  ANSWER_TIMEOUT_SECONDS: wholeNumber(1, ANSWER_TIMEOUT_SECONDS_MAX)
    .default(ANSWER_TIMEOUT_SECONDS_MAX)
    .describe("seconds to wait for a provider's answer to a message; then it is unknown"),
  WORKER_CONCURRENCY: wholeNumber(1, 100).default(10).describe('jobs at a time per worker'),
  RETENTION_MONTHS: wholeNumber(RETENTION_MONTHS_MIN, RETENTION_MONTHS_MAX)
    .default(24)
    .describe('months that events are kept for, and accepted from, in every project'),
  NODE_ENV: z.string().default('production').describe('"test" allows TEST_FAILPOINT'),
  TEST_FAILPOINT: z
    .string()
    .min(1)
    .optional()
    .describe('kills the process at a named step, for crash tests'),
});

/** Of a rotated key only the outer part is another one. */
const isOfOneRoot = (now: string, before: string | undefined): boolean =>
  before === undefined ||
  !MASTER_KEY_FORM.test(now) ||
  !MASTER_KEY_FORM.test(before) ||
  readMasterKey(now).root.equals(readMasterKey(before).root);

const Environment = Settings.refine(
  (env) => env.TEST_FAILPOINT === undefined || env.NODE_ENV === 'test',
  { path: ['TEST_FAILPOINT'], error: 'only with NODE_ENV=test', when: () => true },
)
  .refine((env) => isOfOneRoot(env.MASTER_KEY, env.MASTER_KEY_PREVIOUS), {
    path: ['MASTER_KEY_PREVIOUS'],
    error: 'is of another installation than MASTER_KEY',
  })
  .transform((env) => ({
    databaseUrl: withoutCredentials(env.DATABASE_URL),
    databasePoolUrl: env.DATABASE_POOL_URL ? withoutCredentials(env.DATABASE_POOL_URL) : null,
    ownerDatabaseUrl: env.OWNER_DATABASE_URL ?? env.DATABASE_URL,
    databaseAuth: env.DATABASE_AUTH,
    masterKey: readMasterKey(env.MASTER_KEY).root,
    outerKeys: [env.MASTER_KEY, env.MASTER_KEY_PREVIOUS]
      .filter((text) => text !== undefined)
      .map((text) => readMasterKey(text).outer),
    role: env.ROLE,
    port: env.PORT,
    host: env.HOST,
    isPublicUrlSet: env.PUBLIC_URL !== undefined,
    publicUrl: (env.PUBLIC_URL ?? localUrl(env.HOST, env.PORT)).replace(/\/+$/, ''),
    trustedProxies: env.TRUSTED_PROXIES,
    rateLimitServer: env.RATE_LIMIT_SERVER,
    rateLimitPublishable: env.RATE_LIMIT_PUBLISHABLE,
    rateLimitAddress: env.RATE_LIMIT_ADDRESS,
    rateLimitUnsubscribe: env.RATE_LIMIT_UNSUBSCRIBE,
    rateLimitUnknownKeys: env.RATE_LIMIT_UNKNOWN_KEYS,
    unitLimitServer: env.UNIT_LIMIT_SERVER,
    unitLimitPublishable: env.UNIT_LIMIT_PUBLISHABLE,
    unitLimitAddress: env.UNIT_LIMIT_ADDRESS,
    unitLimitAnonymous: env.UNIT_LIMIT_ANONYMOUS,
    connectionsMax: env.CONNECTIONS_MAX,
    stopNoticeMs: env.STOP_NOTICE_SECONDS * 1_000,
    metricsToken: env.METRICS_TOKEN ?? null,
    logLevel: env.LOG_LEVEL,
    egressAllowNetworks: env.EGRESS_ALLOW_NETWORKS,
    dnsServers: env.DNS_SERVERS,
    relayApiUrl: env.RELAY_API_URL,
    cloudApiUrl: env.CLOUD_API_URL ?? null,
    snsUrl: env.SNS_URL ?? null,
    ehloName: env.EHLO_NAME ?? null,
    answerTimeoutMs: env.ANSWER_TIMEOUT_SECONDS * 1_000,
    workerConcurrency: env.WORKER_CONCURRENCY,
    retentionMonths: env.RETENTION_MONTHS,
    failpoint: env.TEST_FAILPOINT ?? null,
  }));

export type Config = Readonly<z.output<typeof Environment>>;

export const SETTING_NAMES: readonly string[] = Object.keys(Settings.shape);

/** What a setting is when it is left out. */
const sayDefault = (schema: z.ZodType): string => {
  const { success, data } = schema.safeParse(undefined);
  if (!success) return 'required';
  if (typeof data === 'string' || typeof data === 'number') return `default: ${data}`;
  return data === undefined ? 'optional' : 'default: none';
};

/** Every setting, a line each, for --help. */
export const describeSettings = (): string =>
  Object.entries(Settings.shape)
    .map(([name, one]) => `  ${name.padEnd(23)} ${one.description ?? ''} (${sayDefault(one)})`)
    .join('\n');

/** Reads the environment once. Throws with every problem at once, before anything starts. */
export const readConfig = (env: NodeJS.ProcessEnv = process.env): Config => {
  const result = Environment.safeParse(readSettingFiles(env));
  if (result.success) return Object.freeze(result.data);
  throw new Error(`Cannot start:\n${z.prettifyError(result.error)}`);
};

/** Returns the settings that give the service credentials of a database which it does not use. */
export const listNeedlessCredentials = (env: NodeJS.ProcessEnv = process.env): string[] =>
  findNeedlessCredentials(readSettingFiles(env));
