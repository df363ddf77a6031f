import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { SmtpSettings } from './settings.ts';
import { NO_MECHANISM } from './smtp_errors.ts';

const noMechanism = (): Error =>
  Object.assign(new Error(`${NO_MECHANISM}: AUTH is not offered`), { code: 'EAUTH' });

/** PLAIN and LOGIN only: a relay that offers no other mechanism is not answered in another way. */
const refuseMechanism = ({ reject }: { reject: (error: Error) => void }): void =>
  reject(new Error(`${NO_MECHANISM}: neither PLAIN nor LOGIN is offered`));
export const customAuth = { 'CRAM-MD5': refuseMechanism, XOAUTH2: refuseMechanism };

/** Logs in, or rejects. Settings without a login have nothing to send. */
const logIn = (connection: SMTPConnection, { username, password }: SmtpSettings): Promise<void> => {
  if (username === null) return Promise.resolve();
  // A relay that offers no login gets no password.
  if (!connection.allowsAuth) return Promise.reject(noMechanism());
  return new Promise((resolve, reject) => {
    connection.login({ user: username, pass: password ?? '' }, (error: Error | null) =>
      error ? reject(error) : resolve(),
    );
  });
};

/** Connects, greets and logs in. The callback alone reports a relay that closes before its greeting. */
export const openSession = async (
  connection: SMTPConnection,
  settings: SmtpSettings,
): Promise<void> => {
  await new Promise<void>((resolve, reject) =>
    connection.connect((error?: Error) => (error ? reject(error) : resolve())),
  );
  await logIn(connection, settings);
};

/** Returns what no answer of a relay may show of the settings. */
export const secretsOf = ({ username, password }: SmtpSettings): string[] =>
  [username, password].filter((secret) => secret !== null);
