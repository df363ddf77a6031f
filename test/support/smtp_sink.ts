import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SMTPServer, SMTPServerDataStream, SMTPServerSession } from 'smtp-server';
import { afterAll, beforeAll } from 'vitest';
import type { SmtpSettings } from '../../src/providers/settings.ts';
import {
  distrustAuthority,
  makeCertificate,
  trustAuthority,
} from '../../src/runtime/certificate.ts';
import type { Certificate } from '../../src/runtime/certificate.ts';
import { readMail } from '../../src/runtime/mail_catcher/read_mail.ts';
import type { ReadMail } from '../../src/runtime/mail_catcher/read_mail.ts';
import { PromptSmtpServer } from './prompt_smtp_server.ts';
import { goOn, isReply, isTaking, momentOf, readMessage, reply, Script } from './smtp_script.ts';
import type { Action, Limits, Moment, SinkOptions, Stage } from './smtp_script.ts';

type Received = {
  /** Which connection it came over, counted from 1. */
  connection: number;
  from: string;
  to: string[];
  /** The bytes, without the dots that SMTP adds. */
  raw: Buffer;
  /** Milliseconds since 1970 at the first byte of the message, with fractions; null if there was none. */
  firstByteAt: number | null;
  receivedAt: number;
};
export type PartialMail = Received;
export type SinkMail = Received &
  ReadMail & {
    send_id: string | null;
    /** What its sender was told: 250, the code of the script, or null for nothing. */
    answer: number | null;
  };

const WAIT_MS = 15_000;
const DEFAULT_HOSTS = ['localhost', '127.0.0.1', '::1'];
const ACCOUNT = { provider: 'smtp', username: 'trunkline', password: 'sink password' } as const;
const now = (): number => performance.timeOrigin + performance.now();
type Done = (error?: Error | null) => void;
type Link = { number: number; socket: Socket };
type Connection = SMTPServer['connections'] extends Set<infer C> ? C : never;

/** A mail server that records what it gets and behaves as badly as a test wants. */
export class SmtpSink {
  /** Complete messages, in order, also those that were refused after their end. */
  mails: SinkMail[] = [];
  /** Messages whose connection was lost before their end. */
  partials: PartialMail[] = [];
  connections = 0;
  settings!: SmtpSettings & { username: string; password: string };
  /** The authority's certificate, for NODE_EXTRA_CA_CERTS of another process. */
  caFile!: string;
  readonly #options: SinkOptions;
  readonly #changes = new EventEmitter().setMaxListeners(0);
  /** By the client's port, which is all that a socket and a session have in common. */
  readonly #links = new Map<number, Link>();
  readonly script = new Script();
  #server!: SMTPServer;
  #ca = '';

  constructor(options: SinkOptions = {}) {
    this.#options = options;
  }

  async start(): Promise<this> {
    const { host = '127.0.0.1', hosts = DEFAULT_HOSTS, secure = 'starttls' } = this.#options;
    const certificate = await makeCertificate(hosts, this.#options.madeAt);
    this.#ca = certificate.ca;
    if (this.#options.trusted ?? true) trustAuthority(this.#ca);
    const folder = await mkdtemp(join(tmpdir(), 'trunkline-sink-'));
    this.caFile = join(folder, 'ca.pem');
    await writeFile(this.caFile, this.#ca);
    this.#server = this.#makeServer(certificate, secure);
    this.#server.on('error', () => {});
    this.#server.listen(this.#options.port ?? 0, host);
    await once(this.#server.server, 'listening');
    const { port: smtp_port } = this.#server.server.address() as AddressInfo;
    this.settings = { ...ACCOUNT, smtp_host: host, smtp_port, smtp_secure: secure };
    return this;
  }

  async close(): Promise<void> {
    if (this.#options.trusted ?? true) distrustAuthority(this.#ca);
    const closed = once(this.#server.server, 'close');
    this.#server.close();
    this.dropAll();
    await closed;
    await rm(join(this.caFile, '..'), { recursive: true, force: true });
  }

  /** From now on does this at that stage; the first rule that fits is taken. */
  play(stage: Stage, action: Action, limits: Limits = {}): void {
    this.script.play(stage, action, limits);
  }

  /** Forgets script and records. */
  reset(): void {
    this.script.reset();
    this.mails = [];
    this.partials = [];
  }

  /** Cuts every connection, also the ones that hang. */
  dropAll(): void {
    for (const { socket } of this.#links.values()) socket.destroy();
  }

  /** Resolves when so many complete messages are here; rejects, saying what is, after the time. */
  waitFor(count: number, withinMs = WAIT_MS): Promise<SinkMail[]> {
    return this.#until(() => (this.mails.length >= count ? this.mails : null), withinMs);
  }

  waitForPartials(count: number, withinMs = WAIT_MS): Promise<PartialMail[]> {
    return this.#until(() => (this.partials.length >= count ? this.partials : null), withinMs);
  }

  #makeServer({ cert, key }: Certificate, secure: SmtpSettings['smtp_secure']): SMTPServer {
    const { offersAuth = true } = this.#options;
    const server = new PromptSmtpServer({
      cert,
      key,
      name: 'sink.test',
      secure: secure === 'ssl',
      allowInsecureAuth: secure === 'none',
      disabledCommands: [
        ...(secure === 'none' ? ['STARTTLS'] : []),
        ...(offersAuth ? [] : ['AUTH']),
      ],
      disableReverseLookup: true,
      logger: false,
      onConnect: (session, done) => {
        this.#prepare(session);
        this.#act('connect', session, done);
      },
      onAuth: ({ username, password }, session, done) =>
        this.#act('auth', session, (error) => {
          const isKnown = username === ACCOUNT.username && password === ACCOUNT.password;
          if (error || !isKnown) done(error ?? reply(535, 'no such account'));
          else done(null, { user: ACCOUNT.username });
        }),
      onMailFrom: ({ address }, session, done) =>
        this.#act('mail', session, done, { from: address }),
      onRcptTo: ({ address }, session, done) => this.#act('rcpt', session, done, { to: [address] }),
      onData: (stream, session, done) => void this.#take(stream, session, done),
    });
    server.server.on('connection', (socket: Socket) => {
      const port = socket.remotePort ?? 0;
      this.connections += 1;
      this.#links.set(port, { number: this.connections, socket });
      socket.once('close', () => this.#links.delete(port));
      this.#changes.emit('change');
    });
    return server;
  }

  /** smtp-server asks nobody before it answers STARTTLS and DATA, so its own two handlers are wrapped. */
  #prepare(session: SMTPServerSession): void {
    const connection = [...this.#server.connections].find(({ id }) => id === session.id);
    if (connection) {
      this.#wrap(connection, 'handler_STARTTLS', 'starttls');
      this.#wrap(connection, 'handler_DATA', 'data');
    }
  }

  #wrap(connection: Connection, name: 'handler_STARTTLS' | 'handler_DATA', stage: Stage): void {
    const handle = connection[name].bind(connection);
    connection[name] = (command, callback) =>
      this.#act(stage, connection.session, (error) => {
        if (!error) return handle(command, callback);
        connection.send((error as Error & { responseCode: number }).responseCode, error.message);
        return callback();
      });
  }

  #linkOf({ remotePort }: SMTPServerSession): Link | null {
    return this.#links.get(remotePort) ?? null;
  }

  #act(stage: Stage, session: SMTPServerSession, done: Done, known: Partial<Moment> = {}): void {
    const link = this.#linkOf(session);
    const moment = { ...momentOf(link?.number ?? 0, session), ...known };
    const action = this.script.find(stage, moment);
    if (action === 'hang') return;
    if (action === 'drop') link?.socket.destroy();
    else if (isReply(action)) done(reply(action.code, action.text));
    else goOn(action, () => done());
  }

  async #take(
    stream: SMTPServerDataStream,
    session: SMTPServerSession,
    done: (error?: Error | null, text?: string) => void,
  ): Promise<void> {
    const link = this.#linkOf(session);
    const moment = momentOf(link?.number ?? 0, session);
    const { isWhole, ...read } = await readMessage(
      stream,
      link?.socket,
      this.script.find('body', moment),
    );
    const received = { ...moment, ...read, receivedAt: now() };
    if (!isWhole) {
      this.partials.push(received);
      this.#changes.emit('change');
      return done();
    }
    const action = this.script.find('end', { ...moment, raw: read.raw });
    const answer = isReply(action) ? action.code : isTaking(action) ? 250 : null;
    const mail = await readMail(received.raw);
    const send_id = [mail.headers['x-trunkline-send-id'] ?? []].flat()[0] ?? null;
    this.mails.push({ ...received, ...mail, send_id, answer });
    this.#changes.emit('change');
    if (action === 'drop') link?.socket.destroy();
    else if (isReply(action))
      done(action.code < 300 ? null : reply(action.code, action.text), action.text);
    else if (action !== 'hang')
      goOn(action, () => done(null, `OK: queued as sink-${this.mails.length}`));
  }

  async #until<T>(find: () => T | null, withinMs: number): Promise<T> {
    const signal = AbortSignal.timeout(withinMs);
    for (;;) {
      const found = find();
      if (found !== null) return found;
      await once(this.#changes, 'change', { signal }).catch(() => {
        const seen = `${this.mails.length} mails, ${this.partials.length} partial ones`;
        throw new Error(
          `after ${withinMs} ms the sink has ${seen}, ${this.connections} connections`,
        );
      });
    }
  }
}

/** A sink for the tests of one file: started before them and closed after them. */
export const smtpSink = (options: SinkOptions = {}): SmtpSink => {
  const sink = new SmtpSink(options);
  beforeAll(() => sink.start());
  afterAll(() => sink.close());
  return sink;
};

/** A sink of one's own, for processes and single tests; the caller closes it. */
export const startSmtpSink = (options: SinkOptions = {}) => new SmtpSink(options).start();
