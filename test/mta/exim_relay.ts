import { mkdir, readFile, rm } from 'node:fs/promises';
import type { SmtpSettings } from '../../src/providers/settings.ts';
import { freePort } from '../support/ports.ts';
import { Daemon } from './daemon.ts';
import { PROGRAM, USER } from './exim.ts';
import { Greylist } from './greylist.ts';
import { FIRST_RULES, HOST, USERNAME } from './relay.ts';
import type { Limits, Relay, Rules } from './relay.ts';
import { RelayFolder } from './relay_folder.ts';

/** More than any test sends: Exim has no word for none. */
const UNLIMITED = 1_000_000;
/** `<=` is a message that it has written to its disk and answered with 250. */
const TAKEN = / <= .* id=(\S+)/;

const toOptions = ({ messagesPerConnection, connectionsMax }: Limits): string =>
  [
    ...(messagesPerConnection ? [`smtp_accept_max_per_connection = ${messagesPerConnection}`] : []),
    ...(connectionsMax ? [`smtp_accept_max_per_host = ${connectionsMax}`] : []),
  ].join('\n');

/** A real Exim as a customer's relay. */
export class EximRelay implements Relay {
  readonly settings: SmtpSettings;
  readonly #folder: RelayFolder;
  readonly #greylist: Greylist;
  readonly #daemon: Daemon;

  private constructor(folder: RelayFolder, greylist: Greylist, port: number) {
    this.#folder = folder;
    this.#greylist = greylist;
    const args = ['-C', folder.of('exim.conf'), '-bdf'];
    this.#daemon = new Daemon({ program: PROGRAM, args }, port);
    const { password } = FIRST_RULES;
    const place = { smtp_host: HOST, smtp_port: port, smtp_secure: 'starttls' } as const;
    this.settings = { provider: 'smtp', ...place, username: USERNAME, password };
  }

  static async start(limits: Limits = {}): Promise<EximRelay> {
    const folder = await RelayFolder.make('exim');
    const [port, greylist] = [await freePort(), await Greylist.start()];
    for (const name of ['spool', 'log', 'rules']) await mkdir(folder.of(name));
    const relay = new EximRelay(folder, greylist, port);
    await relay.change(FIRST_RULES);
    await folder.fill('exim.conf', 'exim_relay.conf', {
      folder: folder.path,
      user: USER,
      username: USERNAME,
      port: String(port),
      greylist: String(greylist.port),
      limits: toOptions(limits),
    });
    folder.give(`${USER}:`, 'spool', 'log', 'rules', 'cert.pem', 'key.pem');
    await relay.begin();
    return relay;
  }

  get caFile(): string {
    return this.#folder.of('ca.pem');
  }

  async taken(): Promise<string[]> {
    const log = await readFile(this.#folder.of('log', 'mainlog'), 'utf8').catch(() => '');
    return log.split('\n').flatMap((line) => TAKEN.exec(line)?.[1] ?? []);
  }

  async change(rules: Partial<Rules>): Promise<void> {
    const { password, senders, dailyMax, pastDailyMax, greySeconds } = rules;
    const write = (name: string, text: string) => this.#folder.write(`rules/${name}`, text);
    if (password !== undefined) await write('password', password);
    if (senders) await write('senders', senders.map((sender) => `${sender}: yes\n`).join(''));
    if (dailyMax !== undefined) await write('daily_max', String(dailyMax ?? UNLIMITED));
    if (pastDailyMax) await write('past_daily_max', pastDailyMax);
    if (greySeconds === undefined) return;
    this.#greylist.seconds = greySeconds ?? 0;
    if (greySeconds === null) await rm(this.#folder.of('rules', 'is_grey'), { force: true });
    else await write('is_grey', '');
  }

  begin(): Promise<void> {
    return this.#daemon.begin();
  }

  end(): Promise<void> {
    return this.#daemon.end();
  }

  async remove(): Promise<void> {
    await this.end();
    await this.#greylist.close();
    await this.#folder.remove();
  }
}
