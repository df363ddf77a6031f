// What the code must not even say. Each rule is shown to be able to fail.
import { describe, expect, test } from 'vitest';
import { filesOf, imagineTree, matches, readTree } from '../support/tidy/tree.ts';
import type { Tree } from '../support/tidy/tree.ts';

const tree = readTree();
/** What runs as the service; tools of the operator, pages and SDKs call whom they are told to. */
const SERVICE = /^(?:src\/(?!runtime\/|console\/|sdk\/|cli\/)|tasks\/).*\.ts$/;

const code = (text: string): string => text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, '');

/** Each opens connections only to what `resolveEgress` has answered, or asks for names for it. */
const GUARDED = [
  'src/base/https.ts',
  'src/base/resolve_host.ts',
  'src/providers/bounce_mailbox/imap.ts',
  'src/providers/smtp.ts',
];
const CONNECTS = new RegExp(
  [
    /\bfrom '(node:(?:tls|https|http2|dgram|dns(?:\/promises)?)|undici)'/,
    /\bfrom '(imapflow|nodemailer(?:\/lib\/smtp-connection)?)'/,
    /(?<![\w.#])(fetch)\(/,
    /\b(connect|createConnection|Socket)\b[^;]*\bfrom 'node:net'/,
    /\b(request)\b[^;]*\bfrom 'node:http'/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);
/** Types and tests of the shape of an address open nothing. */
const OPENS_NOTHING = /^import type /;

const findConnecting = (from: Tree): string[] =>
  filesOf(from, SERVICE)
    .filter(({ path }) => !GUARDED.includes(path))
    .flatMap(({ path, text }) =>
      code(text)
        .split(/;\n/)
        .map((statement) => statement.trim())
        .filter((statement) => !OPENS_NOTHING.test(statement))
        .flatMap((statement) =>
          [...statement.matchAll(CONNECTS)].map(([, ...what]) => `${path}: ${what.find(Boolean)}`),
        ),
    );

describe('connections', () => {
  test('only the guarded doors open connections, and ask for names', () => {
    expect(findConnecting(tree)).toEqual([]);
    for (const path of GUARDED) expect(tree.paths).toContain(path);
    for (const path of GUARDED.filter((one) => !one.endsWith('/resolve_host.ts')))
      expect(tree.read(path)).toContain('resolveEgress(');
  });

  test.each([
    [`const answer = await fetch(url);\n`, 'fetch'],
    [`import { connect } from 'node:tls';\n`, 'node:tls'],
    [`import { connect } from 'node:net';\n`, 'connect'],
    [`import { request } from 'node:http';\n`, 'request'],
    [`import { lookup } from 'node:dns/promises';\n`, 'node:dns/promises'],
    [`import { createTransport } from 'nodemailer';\n`, 'nodemailer'],
    [`import { ImapFlow } from 'imapflow';\n`, 'imapflow'],
  ])('notices %j', (text, what) => {
    expect(findConnecting(imagineTree({ 'src/delivery/x.ts': text }))).toEqual([
      `src/delivery/x.ts: ${what}`,
    ]);
    expect(findConnecting(imagineTree({ 'src/base/https.ts': text }))).toEqual([]);
  });
});

/** Makes digests and never compares one: it is looked up by index, counts, or signs for somebody else. */
const NEVER_COMPARES = [
  'src/automations/sign_webhook.ts',
  'src/admin/access_throttle.ts',
  'src/admin/throttle.ts',
  'src/http/idempotency.ts',
  'src/base/keys.ts',
  'src/http/limits.ts',
];

/** A digest beside a comparison that stops at the first difference; whether there is one at all may be asked. */
const HASTY = new RegExp(
  [
    /(?:digest|hash|mac|signature)\w*(?:\([^)]*\))?\s*[!=]==(?!\s*(?:null|undefined)\b)/,
    /[!=]==\s*[\w.]*(?:digest|hash|mac|signature)\b/,
    /(?:digest|hash|mac|signature)\w*(?:\([^)]*\))?\s*\.(?:equals|compare)\(/,
    /\.(?:equals|compare)\([^;\n]*(?:digest|hash|mac|signature)\b/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
);

const findUnsafe = (from: Tree): string[] =>
  filesOf(from, SERVICE)
    .map(({ path, text }) => ({ path, said: code(text) }))
    .filter(({ said }) => /\b(?:createHmac|scrypt)\(/.test(said))
    .filter(
      ({ path, said }) =>
        HASTY.test(said) || (!NEVER_COMPARES.includes(path) && !said.includes('timingSafeEqual(')),
    )
    .map(({ path }) => path);

describe('digests', () => {
  test('whoever makes a digest of a secret compares it in constant time', () => {
    expect(findUnsafe(tree)).toEqual([]);
    for (const path of NEVER_COMPARES) expect(tree.paths).toContain(path);
  });

  const made = `const mac = createHmac('sha256', key).update(said)`;
  test.each([
    `${made}.digest('hex') === given;`,
    // Also in a file that compares another one well.
    `${made}.digest(); timingSafeEqual(a, b); if (!mac.equals(given)) return;`,
    `${made}.digest('hex'); timingSafeEqual(a, b); if (given.signature !== mac) return;`,
    `${made}.digest(); // timingSafeEqual(a, b)`,
  ])('notices a comparison that stops at the first difference: %s', (text) => {
    expect(findUnsafe(imagineTree({ 'src/feedback/x.ts': text }))).toEqual(['src/feedback/x.ts']);
  });

  test('a digest that is compared in constant time, or not at all, is none', () => {
    const text = `${made}.digest(); if (mac === null) return; timingSafeEqual(mac, given);`;
    expect(findUnsafe(imagineTree({ 'src/feedback/x.ts': text }))).toEqual([]);
    const kept = `${made}.digest();`;
    expect(findUnsafe(imagineTree({ 'src/http/limits.ts': kept }))).toEqual([]);
  });
});

/** A fence for the planner, or the nth of what is bounded: never what a caller says. */
const OF_A_BOUND = /^(?:0|\$\{(?:\w*(?:Max|_MAX)|count)(?: - 1)?\}|\w+\.events_max - 1)$/;

const findOffsets = (from: Tree): string[] =>
  filesOf(from, /^(?:src\/(?!runtime\/)|tasks\/|db\/fixtures\/).*\.(?:ts|sql)$/).flatMap(
    ({ path, text }) =>
      matches(code(text), /\boffset\s+(\$\{[^}]*\}|\d+|\w+\.\w+(?: - 1)?)/gi)
        .filter((given) => !OF_A_BOUND.test(given))
        .map((given) => `${path}: offset ${given}`),
  );

describe('pages', () => {
  test('no statement pages by an offset', () => {
    expect(findOffsets(tree)).toEqual([]);
  });

  test('notices one that does', () => {
    const text = 'sql`select event_id from ingest.events limit 50 offset ${page}`';
    expect(findOffsets(imagineTree({ 'src/ingest/x.ts': text }))).toEqual([
      'src/ingest/x.ts: offset ${page}',
    ]);
  });
});

/** The statement that a sharded database may want in another form, and the seed's, which is no part of the service. */
const INSERTS_EVENTS = ['db/fixtures/ingest/accept_events.sql', 'src/runtime/seed/store.ts'];

const findInsertingEvents = (from: Tree): string[] =>
  filesOf(from, /^(?:src|tasks|db\/fixtures)\/.*\.(?:ts|sql)$/)
    .filter(({ text }) => /\b(?:into|copy)\s+ingest\.events\b/i.test(code(text)))
    .map(({ path }) => path);

describe('events', () => {
  test('are inserted by one function of one module', () => {
    expect(findInsertingEvents(tree).toSorted()).toEqual(INSERTS_EVENTS);
  });

  test('notices another that inserts them', () => {
    const text = 'sql`insert into ingest.events (project_id) values (${projectId})`';
    expect(findInsertingEvents(imagineTree({ 'src/ingest/x.ts': text }))).toEqual([
      'src/ingest/x.ts',
    ]);
  });
});

/** Postgres rounds it into a column of whole milliseconds: it may lie beyond the very next statement. */
const DUE_WHEN_ROUNDED =
  /\b(?:next_\w+|due_at|wake_at|\w+_until|expires_at) = (?:least\(\w+, )?(?:\w+_timestamp|now)\(\)(?! ?[-+])/g;

const findDueWhenRounded = (from: Tree): string[] =>
  filesOf(from, /^(?:src|test|db\/fixtures)\/.*\.(?:ts|sql)$/)
    .filter(({ path }) => path !== 'test/hardening/source.test.ts')
    .filter(({ text }) => text.search(DUE_WHEN_ROUNDED) >= 0)
    .map(({ path }) => path);

describe('what is due now', () => {
  test('is due to the very next statement', () => {
    expect(findDueWhenRounded(tree)).toEqual([]);
  });

  test('notices what may be due half a millisecond later', () => {
    const late = ['due_at = now()', 'wake_at = least(wake_at, statement_timestamp())'];
    const early = ["next_read_at = now() - interval '1 ms'"];
    const found = [...late, ...early].map((text) =>
      findDueWhenRounded(imagineTree({ 'src/x.ts': text })),
    );
    expect(found).toEqual([['src/x.ts'], ['src/x.ts'], []]);
  });
});

/** Who says which project a transaction is about: two that open one, and functions that are asked in their own. */
const USES_A_PROJECT = [
  'db/fixtures/admin/forget_audit.sql',
  'db/fixtures/base/use_project.sql',
  'db/fixtures/delivery/step_hand_offs.sql',
  'db/fixtures/http/claim_key.sql',
  'db/fixtures/ingest/accept_events.sql',
  'src/automations/snapshot.ts',
  'src/base/db.ts',
];
const USES =
  /\buse_project\s*\(|\bset_config\(\s*'trunkline\.project_id'|\bset\s+(?:local\s+)?trunkline\./i;
const OF_THE_DATABASE =
  /^(?:src\/(?!runtime\/|console\/|sdk\/|cli\/)|tasks\/|db\/fixtures\/).*\.(?:ts|sql)$/;

const findUsing = (from: Tree): string[] =>
  filesOf(from, OF_THE_DATABASE)
    .filter(({ text }) => USES.test(code(text)))
    .map(({ path }) => path);

/** What is not said to end with the transaction. Recorded, nobody can tell: a constant is a parameter there. */
const findConfigured = (from: Tree): string[] =>
  filesOf(from, OF_THE_DATABASE).flatMap(({ path, text }) =>
    matches(code(text), /\bset_config\(([^)]*)\)/gi)
      .filter((given) => !/,\s*true\s*$/.test(given))
      .map((given) => `${path}: ${given}`),
  );

describe('transactions', () => {
  test('are made one project’s by whoever opens them, and by nobody after that', () => {
    expect(findUsing(tree).toSorted()).toEqual(USES_A_PROJECT);
  });

  test.each([
    'sql`select base.use_project(${projectId})`',
    `sql\`select set_config('trunkline.project_id', \${projectId}, true)\``,
    'sql`set local trunkline.project_id = ${projectId}`',
  ])('notices another: %s', (text) => {
    expect(findUsing(imagineTree({ 'tasks/profiles/x.ts': text }))).toEqual([
      'tasks/profiles/x.ts',
    ]);
  });

  test('set nothing for longer than they last', () => {
    expect(findConfigured(tree)).toEqual([]);
  });

  test.each([`'a.b', $1, false`, `'a.b', $1, isLocal`])('notices set_config(%s)', (given) => {
    const text = `select set_config(${given}) from base.things`;
    expect(findConfigured(imagineTree({ 'src/base/x.ts': text }))).toEqual([
      `src/base/x.ts: ${given}`,
    ]);
  });
});

/** Ids, counts and names of reasons; `err` keeps of an error what `base/log.ts` lets through. */
const LOGGED = [
  'automation_id',
  'checked',
  'dead',
  'deleted',
  'dropped',
  'endpoint_id',
  'err',
  'errors',
  'event_id',
  'events',
  'failure_count',
  'findings',
  'forgotten',
  'hand_offs',
  'hints',
  'is_found',
  'is_more',
  'job_id',
  'key_id',
  'key_kind',
  'left_out',
  'made',
  'open_ms',
  'path',
  'pid',
  'port',
  'project_id',
  'provider_id',
  'pruned',
  'read',
  'reason',
  'reasons',
  'refused',
  'request_id',
  'retry_at',
  'role',
  'seconds_left',
  'send_id',
  'settings',
  'settled',
  'source',
  'spent',
  'task',
  'trace_id',
  'used',
  'why',
  'workers',
];
const LOG_CALL =
  /\blog(?:\.(?:trace|debug|info|warn|error|fatal)|\[[^(]+\])\(\s*(\{[^}]*\}|\w+)\s*,/g;

/** The names of members in `{ a, b: c }`, without what they are given. */
const membersOf = (literal: string): string[] =>
  literal
    .replaceAll(/\([^()]*\)|\[[^\]]*\]/g, '')
    .slice(1, -1)
    .split(',')
    .map((member) => member.split(':')[0]?.trim() ?? '')
    .filter(Boolean);

/** A log that has fields of its own from there on. */
const LOG_CHILD = /\blog\.child\(\s*(\{[^}]*\}|\w+)/g;
/** What libraries, and whoever answers them, say in their own words: it may hold anything. */
const OWN_WORDS = /\.(?:message|stack|detail|hint|where|response|cause|body|email)\b/;

/** Members that are given words of others, whatever they are called. */
const findOwnWords = (literal: string): string[] =>
  literal
    .slice(1, -1)
    .split(',')
    .filter((member) => OWN_WORDS.test(member))
    .map((member) => member.trim());

const findLogged = (from: Tree): string[] =>
  filesOf(from, SERVICE).flatMap(({ path, text }) =>
    [...matches(code(text), LOG_CALL), ...matches(code(text), LOG_CHILD)].flatMap((given) => {
      if (given.startsWith('{'))
        return [...membersOf(given), ...findOwnWords(given)].map((name) => `${path}: ${name}`);
      // Said before, under a name: where it is made.
      const made = new RegExp(`\\b${given}\\s*(?::[^=]+)?=\\s*(\\{[^}]*\\})`).exec(code(text))?.[1];
      return made ? membersOf(made).map((name) => `${path}: ${name}`) : [`${path}: ...${given}`];
    }),
  );

/** The queue's own words, of jobs and workers: what it is handed is a scope of ids. */
const OF_THE_QUEUE = 'src/worker/worker.ts: ...scope';

describe('logs', () => {
  test('only these fields are ever logged', () => {
    const found = [...new Set(findLogged(tree))].filter((one) => one !== OF_THE_QUEUE);
    expect(found.length).toBeGreaterThan(20);
    expect(found.filter((one) => !LOGGED.includes(one.slice(one.indexOf(': ') + 2)))).toEqual([]);
  });

  test('notices an address, and what nobody can see', () => {
    const files = {
      'src/delivery/x.ts': `deps.log.warn({ err: error, email }, 'not sent');`,
      'src/delivery/y.ts': `log.info(everything, 'sent');`,
      'src/delivery/z.ts': `const log = deps.log.child({ project_id, recipient });
        log.warn({ reason: error.message }, 'not sent');`,
    };
    expect(findLogged(imagineTree(files))).toEqual([
      'src/delivery/x.ts: err',
      'src/delivery/x.ts: email',
      'src/delivery/y.ts: ...everything',
      'src/delivery/z.ts: reason',
      'src/delivery/z.ts: reason: error.message',
      'src/delivery/z.ts: project_id',
      'src/delivery/z.ts: recipient',
    ]);
  });
});
