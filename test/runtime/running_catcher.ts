import { createTransport } from 'nodemailer';
import { afterEach, beforeAll, beforeEach } from 'vitest';
import { makeCertificate } from '../../src/runtime/certificate.ts';
import type { Certificate } from '../../src/runtime/certificate.ts';
import { startMailCatcher } from '../../src/runtime/mail_catcher/mail_catcher.ts';
import type { MailCatcher } from '../../src/runtime/mail_catcher/mail_catcher.ts';
import { dial } from './smtp_dialogue.ts';
import type { Dialogue } from './smtp_dialogue.ts';

export const ACCOUNT = { user: 'trunkline', pass: 'local only' };
export const MAIL = {
  from: 'Acme <hello@acme.test>',
  to: ['ada@example.test'],
  subject: 'Wëlcome, Ada',
  text: 'Hello Ada',
  html: '<p>Hello <b>Ada</b></p>',
  messageId: '<one@acme.test>',
};

/** What an answer's body may hold; tests look at it with matchers. */
// oxlint-disable-next-line typescript/no-explicit-any
type Json = any;
type Ports = { smtpPort: number; httpPort: number };

export type RunningCatcher = {
  /** The one that runs now; `restart` replaces it. */
  now: MailCatcher;
  certificate: Certificate;
  start: (ports: Ports) => Promise<void>;
  /** A mail client that checks the certificate. */
  transport: (options?: object) => ReturnType<typeof createTransport>;
  send: (mail?: object) => Promise<void>;
  /** A conversation, after STARTTLS and AUTH. */
  dial: () => Promise<Dialogue>;
  fetch: (path: string, init?: RequestInit) => Promise<Response>;
  list: (query?: string) => Promise<Json>;
};

/** A mail catcher for each test, on free ports, and what its clients do. */
export const runningCatcher = (): RunningCatcher => {
  const catcher = {} as RunningCatcher;
  const { user: username, pass: password } = ACCOUNT;

  beforeAll(async () => {
    catcher.certificate = await makeCertificate(['localhost', '127.0.0.1']);
  });
  beforeEach(() => catcher.start({ smtpPort: 0, httpPort: 0 }));
  afterEach(() => catcher.now.close());

  catcher.start = async (ports) => {
    const { certificate } = catcher;
    catcher.now = await startMailCatcher({ ...ports, username, password, certificate });
  };
  catcher.transport = (options = {}) =>
    createTransport({
      host: '127.0.0.1',
      port: catcher.now.smtpPort,
      requireTLS: true,
      auth: ACCOUNT,
      tls: { ca: catcher.certificate.ca, servername: 'localhost' },
      ...options,
    });
  catcher.send = async (mail = MAIL) => {
    const transport = catcher.transport();
    await transport.sendMail(mail);
    transport.close();
  };
  catcher.dial = () => dial(catcher.now.smtpPort, { ...ACCOUNT, ca: catcher.certificate.ca });
  catcher.fetch = (path, init) => fetch(catcher.now.url + path, init);
  catcher.list = async (query = '') => (await catcher.fetch(`/messages${query}`)).json();
  return catcher;
};
