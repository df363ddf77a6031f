import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SmtpSettings } from '../../src/providers/settings.ts';
import { freePort } from '../support/ports.ts';
import { Daemon } from './daemon.ts';
import { PolicyServer } from './policy_server.ts';
import { findPostfix, librariesOf } from './postfix_package.ts';
import { FIRST_RULES, HOST, NOT_THERE, USERNAME } from './relay.ts';
import type { Limits, Relay, Rules } from './relay.ts';
import { RelayFolder } from './relay_folder.ts';

/** Every Debian has them, so that no account is made for a test. */
const USER = 'mail';
const GROUP = 'news';
const REALM = 'relay.test';
/** The folders that Postfix's own set-up makes, with their modes; those without a group belong to the user alone. */
const QUEUES = 'active bounce corrupt defer deferred flush hold incoming private saved trace'.split(
  ' ',
);

const toOptions = (limits: Limits): string => {
  const { connectionsMax, connectionRateMax, messageRateMax, errorsMax } = limits;
  const options = {
    smtpd_client_connection_count_limit: connectionsMax,
    smtpd_client_connection_rate_limit: connectionRateMax,
    smtpd_client_message_rate_limit: messageRateMax,
    smtpd_hard_error_limit: errorsMax,
  };
  return Object.entries(options)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name} = ${value}`]))
    .join('\n');
};

/** Each message has a queue id: cleanup logs its Message-ID, and discard that it was taken in and passed on. */
const readTaken = (log: string): string[] => {
  const ids = new Map<string, string>();
  return log.split('\n').flatMap((line) => {
    const [, program, queueId = '', rest = ''] =
      /postfix\/(\w+)\[\d+\]: (\w+): (.*)/.exec(line) ?? [];
    const messageId = program === 'cleanup' && /^message-id=(\S+)/.exec(rest)?.[1];
    if (messageId) ids.set(queueId, messageId);
    return program === 'discard' && rest.includes('status=sent') ? (ids.get(queueId) ?? []) : [];
  });
};

const findingLibraries = (programs: string): string =>
  `LD_LIBRARY_PATH=${librariesOf(programs).join(':')}`;

/** A real Postfix as a customer's relay. */
export class Postfix implements Relay {
  readonly settings: SmtpSettings;
  readonly #folder: RelayFolder;
  readonly #programs: string;
  readonly #limits: Limits;
  readonly #policies: PolicyServer;
  readonly #daemon: Daemon;
  #rules = FIRST_RULES;

  private constructor(
    {
      folder,
      policies,
      programs,
    }: { folder: RelayFolder; policies: PolicyServer; programs: string },
    limits: Limits,
    port: number,
  ) {
    this.#folder = folder;
    this.#policies = policies;
    this.#programs = programs;
    this.#limits = limits;
    const program = join(programs, 'usr/lib/postfix/sbin/master');
    const args = ['-c', folder.of('conf'), '-d'];
    this.#daemon = new Daemon({ program, args, settings: [findingLibraries(programs)] }, port);
    const { password } = FIRST_RULES;
    const place = { smtp_host: HOST, smtp_port: port, smtp_secure: 'starttls' } as const;
    this.settings = { provider: 'smtp', ...place, username: USERNAME, password };
  }

  static async start(limits: Limits = {}): Promise<Postfix> {
    const programs = findPostfix();
    if (programs === null) throw new Error('there is no Postfix');
    const folder = await RelayFolder.make('postfix');
    const [port, policies] = [await freePort(), await PolicyServer.start(FIRST_RULES)];
    const relay = new Postfix({ folder, policies, programs }, limits, port);
    await relay.#furnish(port);
    await relay.change(FIRST_RULES);
    await relay.begin();
    return relay;
  }

  async #furnish(port: number): Promise<void> {
    const folder = this.#folder;
    for (const name of ['conf/sasl', 'data', 'log', 'spool/pid'])
      await mkdir(folder.of(name), { recursive: true });
    for (const name of QUEUES) await mkdir(folder.of('spool', name), { mode: 0o700 });
    folder.give(`${USER}:`, 'data', ...QUEUES.map((name) => `spool/${name}`));
    for (const [name, mode] of [
      ['public', 0o710],
      ['maildrop', 0o730],
    ] as const) {
      await mkdir(folder.of('spool', name));
      folder.give(`${USER}:${GROUP}`, `spool/${name}`);
      await chmod(folder.of('spool', name), mode);
    }
    await folder.fill('conf/master.cf', 'postfix_master.cf', { port: String(port) });
    await folder.write(
      'conf/sasl/smtpd.conf',
      [
        'pwcheck_method: auxprop',
        'auxprop_plugin: sasldb',
        `sasldb_path: ${folder.of('accounts')}`,
        'mech_list: PLAIN LOGIN\n',
      ].join('\n'),
    );
  }

  get caFile(): string {
    return this.#folder.of('ca.pem');
  }

  async taken(): Promise<string[]> {
    return readTaken(await readFile(this.#folder.of('log', 'mail.log'), 'utf8').catch(() => ''));
  }

  async change(rules: Partial<Rules>): Promise<void> {
    this.#rules = { ...this.#rules, ...rules };
    this.#policies.rules = this.#rules;
    if (rules.password !== undefined) this.#setPassword(rules.password);
    const libraries = librariesOf(this.#programs);
    await this.#folder.fill('conf/main.cf', 'postfix.cf', {
      folder: this.#folder.path,
      programs: this.#programs,
      libraries: libraries.join(':'),
      plugins: [...libraries, '/usr/lib/sasl2'].map((name) => join(name, 'sasl2')).join(':'),
      user: USER,
      group: GROUP,
      limits: toOptions(this.#limits),
      rules: this.#toOptions(),
    });
    this.#daemon.reload();
  }

  #toOptions(): string {
    const { senders } = this.#rules;
    const owned = senders.map((sender) => `${sender}=${USERNAME}`).join(', ');
    const checks = [
      `check_recipient_access regexp:{ {/^${NOT_THERE}/ 550 5.1.1 User unknown in local recipient table} }`,
      // Always asked: its rules change at once, and those of Postfix some time after a reload.
      `check_policy_service inet:127.0.0.1:${this.#policies.port}`,
    ];
    return [
      `smtpd_sender_login_maps = inline:{ ${owned} }`,
      `smtpd_recipient_restrictions = ${checks.join(', ')}`,
    ].join('\n');
  }

  #setPassword(password: string): void {
    const program = join(this.#programs, 'usr/sbin/saslpasswd2');
    const args = ['-p', '-c', '-f', this.#folder.of('accounts'), '-u', REALM, USERNAME];
    const command = [findingLibraries(this.#programs), program, ...args];
    execFileSync('env', command, { input: password });
    this.#folder.give(USER, 'accounts');
  }

  begin(): Promise<void> {
    return this.#daemon.begin();
  }

  end(): Promise<void> {
    return this.#daemon.end();
  }

  async remove(): Promise<void> {
    await this.end();
    await this.#policies.close();
    await this.#folder.remove();
  }
}
