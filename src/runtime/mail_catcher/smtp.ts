import { once } from 'node:events';
import type { Socket } from 'node:net';
import { callbackify } from 'node:util';
import { SMTPServer } from 'smtp-server';
import type { SMTPServerDataStream, SMTPServerOptions } from 'smtp-server';
import type { Certificate } from '../certificate.ts';
import { listen } from './listen.ts';
import type { Listening } from './listen.ts';
import { MAIL_BYTES_MAX } from './mailbox.ts';
import type { Envelope } from './mailbox.ts';

export const SMTP_CLIENTS_MAX = 100;
export const RECIPIENTS_MAX = 100;

export type SmtpOptions = {
  port: number;
  username: string;
  password: string;
  certificate: Certificate;
  onMail: (envelope: Envelope, raw: Buffer) => Promise<void>;
};

const refusal = (responseCode: number, message: string): Error =>
  Object.assign(new Error(message), { responseCode });

const readAll = async (stream: SMTPServerDataStream): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) {
    // What is too large is read to its end, so that the refusal can be heard, but not kept.
    if (stream.sizeExceeded) chunks.length = 0;
    else chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
};

/** AUTH exists only inside TLS: before, it is neither offered nor known. And nothing goes without it. */
const authInsideTls: SMTPServerOptions = {
  onConnect: (session, done) => {
    session.disabledCommands = ['AUTH'];
    done();
  },
  onSecure: (_socket, session, done) => {
    session.disabledCommands = [];
    done();
  },
  onMailFrom: (_address, session, done) =>
    done(session.user ? null : refusal(530, 'Use STARTTLS, then AUTH, before sending mail')),
};

const makeServer = ({ username, password, certificate, onMail }: SmtpOptions): SMTPServer =>
  new SMTPServer({
    ...authInsideTls,
    name: 'localhost',
    banner: 'Trunkline mail catcher',
    cert: certificate.cert,
    key: certificate.key,
    minVersion: 'TLSv1.2',
    authMethods: ['PLAIN', 'LOGIN'],
    disableReverseLookup: true,
    logger: false,
    size: MAIL_BYTES_MAX,
    rejectOversized: true,
    maxClients: SMTP_CLIENTS_MAX,
    maxRecipients: RECIPIENTS_MAX,
    onAuth: (auth, _session, done) => {
      const isKnown = auth.username === username && auth.password === password;
      if (isKnown) done(null, { user: username });
      else done(refusal(535, 'Wrong username or password'));
    },
    onData: (stream, session, done) => {
      const { mailFrom, rcptTo } = session.envelope;
      const envelope = {
        from: mailFrom ? mailFrom.address : '',
        to: rcptTo.map(({ address }) => address),
      };
      const take = async () => {
        const raw = await readAll(stream);
        if (!stream.sizeExceeded) await onMail(envelope, raw);
      };
      callbackify(take)(done);
    },
  });

/** Opens a mail server on 127.0.0.1 that takes mail for anybody, with STARTTLS and one account. */
export const openSmtp = async (options: SmtpOptions): Promise<Listening> => {
  const smtp = makeServer(options);
  const sockets = new Set<Socket>();
  smtp.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  // A client that hangs up in its handshake, or speaks no TLS, has only itself to tell.
  smtp.on('error', () => {});
  const port = await listen(smtp.server, options.port, 'The mail catcher');
  const close = async (): Promise<void> => {
    const closed = once(smtp.server, 'close');
    smtp.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return { port, close };
};
