import type { AddressInfo } from 'node:net';
import type { SMTPServerOptions } from 'smtp-server';
import { onTestFinished } from 'vitest';
import type { SmtpSettings } from '../../src/providers/settings.ts';
import { PromptSmtpServer } from '../support/prompt_smtp_server.ts';

export type Relay = {
  settings: SmtpSettings & { username: string; password: string };
  /** How many connections there were, and how many there are. */
  connections: () => number;
  /** What a client introduced itself as before it gave its name and password. */
  greetedAs: () => string | null;
  open: () => number;
  dropAll: () => void;
};

/** A relay on a port of its own that asks for a name and password and takes every message. */
export const startRelay = async (
  username = 'user',
  password = 'pass',
  more: SMTPServerOptions = {},
): Promise<Relay> => {
  let connections = 0;
  let greeted: string | null = null;
  const server = new PromptSmtpServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    closeTimeout: 100,
    onConnect: (_session, done) => {
      connections += 1;
      done();
    },
    onAuth: (given, session, done) => {
      greeted = session.hostNameAppearsAs;
      const isRight = given.username === username && given.password === password;
      if (isRight) done(null, { user: username });
      else done(new Error('wrong name or password'));
    },
    onData: (stream, _session, done) => {
      stream.on('end', () => done());
      stream.resume();
    },
    ...more,
  });
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const { port } = server.server.address() as AddressInfo;
  return {
    settings: {
      provider: 'smtp',
      smtp_host: '127.0.0.1',
      smtp_port: port,
      smtp_secure: 'none',
      username,
      password,
    },
    connections: () => connections,
    greetedAs: () => greeted,
    open: () => server.connections.size,
    dropAll: () => {
      for (const connection of server.connections) connection.close();
    },
  };
};
