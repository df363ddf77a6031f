// The limits of links that browsers make, at the bound and one past it.
import { expect } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import type { testApi } from '../support/api.ts';
import type { TestDatabase } from '../support/database.ts';

type Given = { api: ReturnType<typeof testApi>; database: TestDatabase };
type Logged = { anonymous_id: string; status: string; reason?: string };

/** How each is tried, by its name in the documents. Every person is new. */
export const limitsOfLinks = ({
  api,
  database,
}: Given): Record<string, (value: number) => Promise<void>> => {
  const linkNext = async (external_id: string, anonymous_id = newId()): Promise<string> => {
    const body = { anonymous_id, external_id };
    const { publishable_key: key } = api.project;
    const { status } = await api.call('POST', '/v1/identify', { key, body });
    expect(status).toBe(202);
    return anonymous_id;
  };
  const findLogged = async (anonymousId: string): Promise<Logged[]> => {
    const { server_key: key } = api.project;
    const { body } = await api.call('GET', '/v1/identity-links?limit=200', { key });
    return body.items.filter((link: Logged) => link.anonymous_id === anonymousId);
  };
  /** Makes links look older than a day. */
  const passDay = () =>
    database.owner.query(
      `update identity.links set created_at = created_at - interval '25 hours' where project_id = $1`,
      [api.project.project_id],
    );
  const expectNext = async (person: string, wanted: Partial<Logged>): Promise<void> =>
    expect(await findLogged(await linkNext(person))).toMatchObject([wanted]);

  return {
    'Anonymous ids that browsers link to one person, within 24 hours': async (value) => {
      const person = newId();
      for (let made = 1; made < value; made += 1) await linkNext(person);
      await expectNext(person, { status: 'active' });
      await expectNext(person, { status: 'refused', reason: 'too_many_links_today' });
    },
    'Links of one person that only browsers vouch for': async (value) => {
      const person = newId();
      for (let made = 1; made < value; made += 1) {
        await linkNext(person);
        await passDay();
      }
      await expectNext(person, { status: 'active' });
      await expectNext(person, { status: 'refused', reason: 'too_many_links' });
    },
    'Refused links of browsers in the log, each side, within 24 hours': async (value) => {
      const device = await linkNext(newId());
      for (let refused = 0; refused <= value; refused += 1) await linkNext(newId(), device);
      const logged = await findLogged(device);
      expect(logged.filter(({ status }) => status === 'refused')).toHaveLength(value);
    },
  };
};
