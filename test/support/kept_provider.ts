import { inProject } from '../../src/base/db.ts';
import { sealCredential } from '../../src/providers/credentials.ts';
import { insertProvider } from '../../src/providers/queries.ts';
import type { TestDatabase } from './database.ts';

/** Keeps a provider without asking whether it works. */
export const keepProvider = (
  { deps }: TestDatabase,
  projectId: string,
  providerId: string,
  fromEmail = 'hello@shop.test',
): Promise<unknown> =>
  inProject(deps, projectId, async (scope) => {
    const place = { recordId: providerId, field: 'password' };
    const { keyVersion, sealed } = await sealCredential(scope, place, 'secret');
    return insertProvider(scope, {
      provider_id: providerId,
      provider: 'smtp',
      display_name: 'Relay',
      from_email: fromEmail,
      from_name: null,
      reply_to: null,
      smtp_host: '127.0.0.1',
      smtp_port: 2525,
      smtp_secure: 'none',
      username: 'user',
      region: null,
      access_key_id: null,
      key_version: keyVersion,
      secret: sealed,
      is_outside: false,
    });
  });
