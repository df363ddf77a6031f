// A service with a name server of its own, whose zone a test changes.
import { afterAll, beforeAll } from 'vitest';
import { inProject } from '../../../src/base/db.ts';
import { newId } from '../../../src/base/ids.ts';
import { Resources } from '../../../src/base/resources.ts';
import type { ProviderRow } from '../../../src/providers/queries.ts';
import { findProvider } from '../../../src/providers/queries.ts';
import type { TestDatabase } from '../../support/database.ts';
import { keepProvider } from '../../support/kept_provider.ts';
import { startNameServer } from '../../support/name_server.ts';
import type { NameServer, Zone } from '../../support/name_server.ts';
import { KEY } from './domains.ts';

export type Named = TestDatabase & { zone: Zone; server: NameServer };

const good = (): Zone => ({
  'shop.test': { TXT: ['v=spf1 ip4:192.0.2.25 -all'], MX: [[10, 'mx.shop.test']] },
  'mx.shop.test': { A: ['192.0.2.25'] },
  's1._domainkey.shop.test': { TXT: [KEY] },
  '_dmarc.shop.test': { TXT: ['v=DMARC1; p=reject; rua=mailto:a@shop.test'] },
});

/** The same database, asked through a name server that knows shop.test and what a test adds to `zone`. */
export const withNameServer = (database: TestDatabase): Named => {
  const named = { zone: good() } as Named;
  beforeAll(async () => {
    named.server = await startNameServer(named.zone);
    const config = { ...database.deps.config, dnsServers: [named.server.address] };
    const deps = { ...database.deps, config, resources: new Resources() };
    Object.assign(named, database, { deps });
  });
  afterAll(async () => {
    await named.deps.resources.close();
    await named.server.close();
  });
  return named;
};

/** Makes every record of shop.test as it should be. */
export const mend = ({ zone }: Named): void => {
  for (const name of Object.keys(zone)) delete zone[name];
  Object.assign(zone, good());
};

/** A provider that sends from shop.test, or another domain. */
export const makeProvider = async (
  named: TestDatabase,
  projectId: string,
  fromEmail = 'hello@shop.test',
): Promise<ProviderRow> => {
  const providerId = newId();
  await keepProvider(named, projectId, providerId, fromEmail);
  const row = await inProject(named.deps, projectId, (scope) => findProvider(scope, providerId));
  if (!row) throw new Error('no provider');
  return row;
};
