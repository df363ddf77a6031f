import type { Ready } from '../../src/providers/providers.ts';

/** A provider ready to be used, without connections. */
export const readyOf = (projectId: string, providerId: string): Ready => ({
  projectId,
  providerId,
  revision: 1,
  sender: { from_email: 'hello@shop.example', from_name: null, reply_to: null },
  bounces: null,
  linkKey: 'x',
  settings: {
    provider: 'smtp',
    smtp_host: 'x',
    smtp_port: 1,
    smtp_secure: 'none',
    username: 'x',
    password: 'x',
  },
});
