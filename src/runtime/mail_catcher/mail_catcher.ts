import type { Certificate } from '../certificate.ts';
import { openHttp } from './http.ts';
import { Mailbox } from './mailbox.ts';
import { openSmtp } from './smtp.ts';

export type MailCatcherOptions = {
  /** 0 takes a free one. */
  smtpPort: number;
  /** 0 takes a free one. */
  httpPort: number;
  username: string;
  password: string;
  certificate: Certificate;
};

export type MailCatcher = {
  smtpPort: number;
  httpPort: number;
  /** Where the caught mails are seen; /messages below it has them as JSON. */
  url: string;
  close: () => Promise<void>;
};

/**
 * Starts a mail server that delivers nothing: what is sent to it stays in memory, within bounds, to
 * be looked at. It listens on 127.0.0.1 only and never ends the process it runs in.
 */
export const startMailCatcher = async (options: MailCatcherOptions): Promise<MailCatcher> => {
  const { smtpPort, httpPort, username, password, certificate } = options;
  const mailbox = new Mailbox();
  const onMail = mailbox.add.bind(mailbox);
  const smtp = await openSmtp({ port: smtpPort, username, password, certificate, onMail });
  try {
    const http = await openHttp({
      port: httpPort,
      mailbox,
      account: { port: smtp.port, username },
    });
    return {
      smtpPort: smtp.port,
      httpPort: http.port,
      url: `http://127.0.0.1:${http.port}`,
      close: async () => void (await Promise.all([smtp.close(), http.close()])),
    };
  } catch (error) {
    await smtp.close();
    throw error;
  }
};
