import type { Answer, Call, TestApi } from '../support/api.ts';
import type { TestDatabase } from '../support/database.ts';

let serial = 0;
/** An address nobody used before. */
export const someone = (): string => `person-${(serial += 1)}-${process.pid}@example.net`;

/** The webhooks of the api's project. */
export const webhooksOf = (database: TestDatabase, api: TestApi) => {
  const post = (slug: string, body: unknown, call: Call = {}, query = ''): Promise<Answer> =>
    api.call('POST', `/v1/webhooks/${slug}/${api.project.project_id}${query}`, { body, ...call });

  const manage = (method: string, path: string, body?: unknown): Promise<Answer> =>
    api.call(method, `/v1/projects/${api.project.project_id}/webhooks${path}`, {
      key: api.project.server_key,
      ...(body === undefined ? {} : { body }),
    });

  /** Why an address is suppressed; null when it is not. */
  const reasonOf = async (email: string): Promise<string | null> => {
    const { rows } = await database.owner.query<{ reason: string }>(
      'select reason from suppression.addresses where project_id = $1 and email = $2',
      [api.project.project_id, email],
    );
    return rows[0]?.reason ?? null;
  };

  const countOf = async (table: string): Promise<number> => {
    const { rows } = await database.owner.query<{ count: number }>(
      `select count(*)::integer as count from ${table} where project_id = $1`,
      [api.project.project_id],
    );
    return rows[0]?.count ?? 0;
  };

  const describe = async (slug: string) => {
    const { body } = await manage('GET', '');
    return body.items.find((item: { slug: string }) => item.slug === slug);
  };
  return { post, manage, reasonOf, countOf, describe };
};
