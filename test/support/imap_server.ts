import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import {
  distrustAuthority,
  makeCertificate,
  trustAuthority,
} from '../../src/runtime/certificate.ts';
import { answerCommand } from './imap_commands.ts';
import type { Account, Folder } from './imap_commands.ts';

/** What to do with a command instead: say nothing for ever, cut the connection, or write something. */
export type ImapAction = 'hang' | 'drop' | { write: (tag: string) => string | Buffer };
type Rule = { command: RegExp; action: ImapAction; left: number };

export type ImapOptions = { secure?: 'ssl' | 'starttls' | 'none'; trusted?: boolean };

const USER = 'bounces';
const PASSWORD = 'imap password';

/** A small IMAP server (RFC 9051, as much of it as a reader needs) that behaves as badly as a test wants. */
export class ImapServer {
  readonly folders = new Map<string, Folder>();
  /** Every command, without its tag, in order; of a login only its name. */
  commands: string[] = [];
  connections = 0;
  offersUidPlus = true;
  password = PASSWORD;
  readonly #options: ImapOptions;
  readonly #sockets = new Set<Socket>();
  readonly #speaking = new Set<Socket>();
  readonly #changes = new EventEmitter();
  #rules: Rule[] = [];
  #server!: Server;
  #context!: SecureContext;
  #ca = '';
  #port = 0;

  constructor(options: ImapOptions = {}) {
    this.#options = options;
  }

  async start(): Promise<this> {
    const { cert, key, ca } = await makeCertificate(['localhost', '127.0.0.1']);
    this.#ca = ca;
    this.#context = createSecureContext({ cert, key });
    if (this.#options.trusted ?? true) trustAuthority(ca);
    this.#server = createServer((socket) => this.#accept(socket));
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
    this.reset();
    return this;
  }

  async close(): Promise<void> {
    if (this.#options.trusted ?? true) distrustAuthority(this.#ca);
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.dropAll();
    await closed;
  }

  /** How to read its INBOX. */
  get settings() {
    const { secure = 'ssl' } = this.#options;
    return { host: '127.0.0.1', port: this.#port, secure, username: USER, password: PASSWORD };
  }

  /** Forgets messages, script and records; the UIDs begin anew under a new UIDVALIDITY. */
  reset(): void {
    const uidValidity = 1 + (this.folders.get('INBOX')?.uidValidity ?? 0);
    this.folders.clear();
    this.folders.set('INBOX', { uidValidity, uidNext: 1, messages: [] });
    this.commands = [];
    this.connections = 0;
    this.#rules = [];
    this.offersUidPlus = true;
    this.password = PASSWORD;
  }

  get inbox(): Folder {
    return this.folder('INBOX');
  }

  /** The folder of a name, which is made at first use. */
  folder(name: string): Folder {
    const folder = this.folders.get(name) ?? { uidValidity: 1, uidNext: 1, messages: [] };
    this.folders.set(name, folder);
    return folder;
  }

  /** Puts a message into INBOX; returns its UID. */
  deliver(raw: string | Buffer, at = new Date()): number {
    const uid = this.inbox.uidNext;
    this.inbox.uidNext += 1;
    this.inbox.messages.push({ uid, raw: Buffer.from(raw), flags: new Set(), at });
    return uid;
  }

  /** Does something else with commands like this, so many times. */
  play(command: RegExp, action: ImapAction, times = Infinity): void {
    this.#rules.push({ command, action, left: times });
  }

  /** Resolves once a command like this has come. */
  async waitFor(command: RegExp): Promise<void> {
    while (!this.commands.some((one) => command.test(one))) await once(this.#changes, 'command');
  }

  /** Writes to every connection that speaks, unasked. */
  write(text: string): void {
    for (const socket of this.#speaking) socket.write(text);
  }

  dropAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #accept(plain: Socket): void {
    this.connections += 1;
    this.#sockets.add(plain);
    plain.on('error', () => {}).on('close', () => this.#sockets.delete(plain));
    const { secure = 'ssl' } = this.#options;
    const account: Account = {
      folders: this.folders,
      isUser: (user, password) => user === USER && password === this.password,
      capabilities: () => [
        'IMAP4rev1',
        ...(secure === 'starttls' && !plain.readableEnded && !this.#isTls(plain)
          ? ['STARTTLS']
          : []),
        ...(this.offersUidPlus ? ['UIDPLUS'] : []),
        'MOVE',
      ],
      selected: null,
    };
    if (secure === 'ssl') this.#talk(this.#toTls(plain), { account, plain });
    else this.#talk(plain, { account, plain });
  }

  readonly #upgraded = new WeakSet<Socket>();
  #isTls(plain: Socket): boolean {
    return this.#upgraded.has(plain);
  }

  #toTls(plain: Socket): Socket {
    this.#upgraded.add(plain);
    return new TLSSocket(plain, { isServer: true, secureContext: this.#context }).on(
      'error',
      () => {},
    );
  }

  #talk(socket: Socket, link: { account: Account; plain: Socket }, greets = true): void {
    let buffered = '';
    this.#speaking.add(socket);
    socket.on('close', () => this.#speaking.delete(socket));
    if (greets && !this.#interfere(socket, 'GREETING', '*')) socket.write('* OK ready\r\n');
    const onData = (chunk: Buffer) => {
      buffered += chunk.toString('latin1');
      for (let end = buffered.indexOf('\r\n'); end >= 0; end = buffered.indexOf('\r\n')) {
        const line = buffered.slice(0, end);
        buffered = buffered.slice(end + 2);
        if (this.#answer(socket, line, link) === 'upgrade') {
          socket.off('data', onData);
          this.#talk(this.#toTls(link.plain), link, false);
          return;
        }
      }
    };
    socket.on('data', onData);
  }

  #answer(socket: Socket, line: string, { account }: { account: Account }): 'upgrade' | void {
    const [, tag = '*', command = ''] = /^(\S+) (.*)$/s.exec(line) ?? [];
    this.commands.push(/^(?:LOGIN|AUTHENTICATE)\b/i.test(command) ? 'LOGIN' : command);
    this.#changes.emit('command');
    if (this.#interfere(socket, command, tag)) return;
    if (/^STARTTLS$/i.test(command)) {
      socket.write(`${tag} OK begin TLS\r\n`);
      return 'upgrade';
    }
    for (const part of answerCommand(account, tag, command)) socket.write(part);
    if (/^LOGOUT$/i.test(command)) socket.end();
  }

  #interfere(socket: Socket, command: string, tag: string): boolean {
    const rule = this.#rules.find((one) => one.left > 0 && one.command.test(command));
    if (!rule) return false;
    rule.left -= 1;
    if (rule.action === 'drop') socket.destroy();
    else if (rule.action !== 'hang') socket.write(rule.action.write(tag));
    return true;
  }
}

/** A server for the tests of a file. */
export const imapServer = (options: ImapOptions = {}): ImapServer => {
  const server = new ImapServer(options);
  beforeAll(() => server.start());
  beforeEach(() => server.reset());
  afterAll(() => server.close());
  return server;
};
