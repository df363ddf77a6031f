import pg from 'pg';

// A client of Postgres sends its password in whatever form the server asks for. A program that takes the server's port
// while the server is away would receive it. The `pg` package has no setting like libpq's `require_auth`, so the
// handlers of its client are replaced here, for the servers that are known to use SCRAM (RFC 5802).

/** The part of the client of `pg` that signs in. */
type SignIn = {
  host: string;
  port: number;
  connection: { emit: (name: 'error', error: Error) => void; stream: { destroy: () => void } };
  _handleAuthCleartextPassword: (message: unknown) => void;
  _handleAuthMD5Password: (message: unknown) => void;
  _handleAuthSASL: (message: unknown) => void;
  _handleAuthSASLFinal: (message: unknown) => void;
  _handleReadyForQuery: (message: unknown) => void;
};
type Handler = Extract<keyof SignIn, `_${string}`>;

const DEFAULT_PORT = 5432;
const required = new Set<string>();
/** Clients whose server has proved that it knows the password, too (RFC 5802 §3). */
const proven = new WeakSet<SignIn>();

const nameOf = (host: string, port: number): string => `${host.toLowerCase()}:${port}`;
const isRequired = ({ host, port }: SignIn): boolean => required.has(nameOf(host, Number(port)));

const refuse = (client: SignIn): void => {
  const message =
    `The server at ${client.host}:${client.port} does not sign in with SCRAM. ` +
    'Another program may have taken the port of Postgres. No password was sent.';
  client.connection.emit('error', Object.assign(new Error(message), { code: 'ESCRAM' }));
  client.connection.stream.destroy();
};

/** Replaces a handler of every client by one that may refuse, or sees that the original one did its work. */
const wrap = (name: Handler, decide: (client: SignIn) => boolean, after?: (c: SignIn) => void) => {
  const { prototype } = pg.Client as unknown as { prototype: SignIn };
  const original = prototype[name];
  if (typeof original !== 'function') throw new Error(`pg.Client has no ${name} any more`);
  prototype[name] = function (this: SignIn, message: unknown): void {
    if (isRequired(this) && !decide(this)) {
      refuse(this);
      return;
    }
    original.call(this, message);
    after?.(this);
  };
};

const install = (): void => {
  const never = (): boolean => false;
  wrap('_handleAuthCleartextPassword', never);
  wrap('_handleAuthMD5Password', never);
  wrap(
    '_handleAuthSASLFinal',
    () => true,
    (client) => proven.add(client),
  );
  wrap('_handleReadyForQuery', (client) => proven.has(client));
};

/**
 * Makes every client of this process refuse a server at this address that asks for the password in another way than
 * SCRAM, or for none. Such a client fails with the code `ESCRAM`, and sends neither password nor statement.
 */
export const requireScram = (host: string, port: number): void => {
  if (required.size === 0) install();
  required.add(nameOf(host, port));
};

/** Does the same for the address in the URL of a database. */
export const requireScramOf = (url: string): void => {
  const { hostname, port } = new URL(url);
  requireScram(hostname, port === '' ? DEFAULT_PORT : Number(port));
};
