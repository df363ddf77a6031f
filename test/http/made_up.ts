// What requests that are made up from schemas have to find, and what no schema can say of them.
import type { Endpoint } from '../../src/http/openapi_read.ts';
import { NEVER } from '../support/database.ts';
import { keepTemplateAsIs } from '../support/kept_template.ts';
import type { TestDatabase } from '../support/database.ts';
import { DEFINITION_SHOWN } from '../../src/automations/shown.ts';
import { DEFINITION_SHOWN as SEGMENT_SHOWN } from '../../src/segments/shown.ts';
import type { TestApi } from '../support/api.ts';
import { refreshSegments } from '../support/refresh_segments.ts';
import { SHOWN_ID } from './as_shown.ts';
import { keepShownTopics } from './shown_topics.ts';

/** One automation for each thing that is done with it, so that it stays as that needs it. */
const STANDS: Record<string, string> = {
  '': 'draft',
  versions: 'draft',
  activate: 'draft',
  pause: 'active',
  resume: 'paused',
  archive: 'draft',
  move: 'active',
  runs: 'active',
  test: 'draft',
  explain: 'active',
  simulation: 'draft',
  segment: 'active',
  retry: 'active',
  delete: 'active',
};
/** A template that no automation sends, so that it can be archived. */
const TEMPLATE_ID = '019a9f0c-6c00-7cc3-98c4-0000000000ff';
const BY_HAND = ['runs', 'segment'];
const VERSION_MAX = 9_999;
const idOf = (verb: string): string =>
  `019a9f0c-6c00-7cc3-98c4-00000000000${Object.keys(STANDS).indexOf(verb).toString(16)}`;

const keepAutomations = async ({ owner }: TestDatabase, projectId: string): Promise<void> => {
  for (const id of [SHOWN_ID, TEMPLATE_ID]) await keepTemplateAsIs(owner, projectId, id);
  await owner.query(
    `insert into automations.endpoints
     values ($1, $2, 'CRM', 'https://example.com/hooks', 'active', null, now(), now())`,
    [projectId, SHOWN_ID],
  );
  const start = `insert into automations.segment_starts (project_id, start_id, automation_id, segment_id, status,
    walked_to, requested_at) values ($1, $2, $3, $2, 'running', $2, now())`;
  for (const [verb, status] of Object.entries(STANDS)) {
    const byHand = { trigger: { kind: 'manual' }, settings: { re_entry: 'every_time' } };
    const definition = { ...DEFINITION_SHOWN, ...(BY_HAND.includes(verb) ? byHand : {}) };
    await owner.query(
      `insert into automations.automations values ($1, $2, 'Welcome', 'draft', null, now(), now())`,
      [projectId, idOf(verb)],
    );
    for (const version of verb === 'simulation' ? [1, VERSION_MAX] : [1])
      await owner.query('insert into automations.versions values ($1, $2, $3, $4, now())', [
        projectId,
        idOf(verb),
        version,
        JSON.stringify(definition),
      ]);
    if (verb === 'segment') await owner.query(start, [projectId, SHOWN_ID, idOf(verb)]);
    if (status === 'draft') continue;
    await owner.query(
      'update automations.automations set status = $3, active_version = 1 where project_id = $1 and automation_id = $2',
      [projectId, idOf(verb), status],
    );
  }
};

/** How many segments are kept before they are cleared away: there may be a hundred. */
const SEGMENTS_KEPT_MAX = 50;

type Members = Record<string, unknown>;
type Made = [id: string, step: Members];

/** A condition that asks only about the email of a step that sends one. */
const withSent = (condition: Members): Members => {
  const { kind, of } = condition as { kind: string; of?: Members | Members[] };
  if (kind === 'email') return { ...condition, step: FIRST };
  if (of === undefined) return condition;
  return { ...condition, of: Array.isArray(of) ? of.map(withSent) : withSent(of) };
};

/** A step that leads to the next one, by the first of its ways. */
const leadTo = (next: string | null, step: Members): Members => {
  const first = (one: Members, at: number) => ({ ...one, next: at === 0 ? next : null });
  const { branches, ways } = step as { branches?: Members[]; ways?: Members[] };
  if (branches)
    return {
      ...step,
      branches: branches.map((one, at) => ({
        ...first(one, at),
        when: withSent(one['when'] as Members),
      })),
      otherwise: null,
    };
  if (ways)
    return { ...step, ways: ways.map((one, at) => ({ ...first(one, at), name: `w${at}` })) };
  if (step['kind'] === 'exit') return step;
  const others = ['on_timeout', 'otherwise', 'on_failure'].filter((name) => name in step);
  return { ...step, next, ...Object.fromEntries(others.map((name) => [name, null])) };
};

const FIRST = 'welcome';

/** Steps in a row, the first of which sends: each leads to the one after it. */
const inARow = (given: Members): Members => {
  const made = Object.entries(given).filter(([id]) => id !== FIRST) as Made[];
  const ofKind = (isExit: boolean) => made.filter(([, { kind }]) => (kind === 'exit') === isExit);
  const first = [FIRST, { ...DEFINITION_SHOWN.steps[FIRST] }] as Made;
  const steps = [first, ...ofKind(false), ...ofKind(true).slice(0, 1)];
  return Object.fromEntries(
    steps.map(([id, step], at) => [id, leadTo(steps[at + 1]?.[0] ?? null, step)]),
  );
};

const BY_EVENT = /"(?:kind":"trigger"|by_property")/;

/** A definition whose steps lead from the first to the last. */
const connected = (definition: Members): Members => ({
  ...definition,
  ...(BY_EVENT.test(JSON.stringify(definition)) ? { trigger: DEFINITION_SHOWN.trigger } : {}),
  entry: FIRST,
  steps: inARow(definition['steps'] as Members),
});

/** With one body, and nothing in it that asks for anything: what is Liquid is no matter of schemas. */
const asTemplate = (given: Members): Members => {
  const { mjml: _, sample: _sample, ...rest } = given;
  const text = (name: string) => (typeof rest[name] === 'string' ? { [name]: 'made up' } : {});
  return { ...rest, html: 'made up', ...text('subject'), ...text('preheader'), ...text('text') };
};

const nameTemplate = (given: Members): Members => {
  if (isOf(given, 'template'))
    return { ...given, template: asTemplate(given['template'] as Members) };
  return isOf(given, 'subject') ? asTemplate(given) : given;
};

/** Ids of topics, of which the first is there. */
const nameTopic = (given: Members): Members => ({
  ...given,
  topic_ids: [SHOWN_ID, ...(given['topic_ids'] as unknown[]).slice(1)],
});

const isOf = (value: Members, name: string): boolean => Object.hasOwn(value, name);

/** What has to be found, by the member that names it. */
const namesOf = ({ used, version }: { used: string; version: number }): Members => ({
  segment_id: used,
  provider_id: SHOWN_ID,
  endpoint_id: SHOWN_ID,
  url: 'https://example.com/hooks',
  template_id: SHOWN_ID,
  template_version: 1,
  profile_id: 'external_id:ann',
  version,
  after_version: version,
});

const named = (value: unknown, names: Members): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => named(one, names));
  const members = Object.entries(value).map(([name, member]) => [
    name,
    Object.hasOwn(names, name) ? names[name] : named(member, names),
  ]);
  return Object.fromEntries(members) as unknown;
};

/** Makes what requests to segments and automations name, and has requests name it. */
export const madeUpFor = (database: TestDatabase, api: TestApi) => {
  const found = { segment: '', list: '', used: '', import: '' };
  let kept: string[] = [];
  const call = (method: string, path: string, body?: unknown) =>
    api.call(method, path, {
      key: api.project.server_key,
      ...(body === undefined ? {} : { body }),
    });
  const create = async (body: object): Promise<string> =>
    (await call('POST', '/v1/segments', body)).body.id as string;

  /** The path with what is there in it. */
  const pathOf = ({ path, method }: Pick<Endpoint, 'path' | 'method'>): string =>
    path
      .replace(
        /automations\/\{id\}(?:\/(\w+))?/,
        (text, verb = method === 'DELETE' ? 'delete' : '') =>
          text.replace('{id}', idOf(verb as string)),
      )
      .replace('templates/{id}', `templates/${TEMPLATE_ID}`)
      .replace('{version}', '1')
      .replace('segments/{id}/imports', `segments/${found.list}/imports`)
      .replace('segments/{id}', `segments/${found.segment}`)
      .replace('segment-starts/{id}', `segment-starts/${SHOWN_ID}`)
      .replace('webhook-endpoints/{id}', `webhook-endpoints/${SHOWN_ID}`)
      .replace('segment-imports/{id}', `segment-imports/${found.import}`);

  const findVersion = async (endpoint: Endpoint): Promise<number> => {
    if (endpoint.method !== 'PATCH' && !endpoint.path.endsWith('/versions')) return 1;
    const path = pathOf(endpoint).replace('{project_id}', api.project.project_id);
    const { body } = await call('GET', path.replace(/\/versions$/, ''));
    return (body.latest_version ?? body.version) as number;
  };

  return {
    pathOf,
    keep: async (): Promise<void> => {
      await keepAutomations(database, api.project.project_id);
      const waiting = { shownId: SHOWN_ID, isConfirmed: false };
      await keepShownTopics(database, api.project.project_id, waiting);
      found.used = await create({ name: 'used', definition: SEGMENT_SHOWN });
      found.segment = await create({ name: 'shown', definition: SEGMENT_SHOWN });
      found.list = await create({ name: 'list' });
      const people = { people: [{ external_id: 'ann' }] };
      const { body } = await call('POST', `/v1/segments/${found.list}/imports`, people);
      found.import = body.import_id as string;
    },
    /** A body that fits, and names what is there. */
    name: async (endpoint: Endpoint, given: unknown): Promise<unknown> => {
      if (endpoint.path.endsWith('/reject-topics')) return nameTopic(given as Members);
      if (!/\/(?:segment|automation|template|webhook-endpoint)/.test(endpoint.path)) return given;
      const version = await findVersion(endpoint);
      const body = named(given, namesOf({ ...found, version })) as Members;
      if (endpoint.path.includes('/template')) return nameTemplate(body);
      if (isOf(body, 'csv')) return { csv: `external_id\nann,${JSON.stringify(body['csv'])}` };
      const definition = body['definition'] as Members | undefined;
      if (!definition) return body;
      if (isOf(definition, 'steps')) return { ...body, definition: connected(definition) };
      const ofLanguage = isOf(definition, 'version') ? { version: 1 } : {};
      return { ...body, definition: { ...definition, ...ofLanguage, include_suppressed: true } };
    },
    /** Makes room for more segments, and enables an endpoint that a request disabled. */
    clear: async (
      { path, method }: Endpoint,
      answer: { id?: string; status?: unknown } | null,
    ): Promise<void> => {
      if (path.includes('/webhook-endpoints/') && answer?.status === 'disabled')
        await call('PATCH', `/v1/webhook-endpoints/${SHOWN_ID}`, { status: 'active' });
      if (method !== 'POST' || path !== '/v1/segments' || !answer?.id) return;
      kept.push(answer.id);
      if (kept.length < SEGMENTS_KEPT_MAX) return;
      for (const id of kept) await call('DELETE', `/v1/segments/${id}`);
      kept = [];
      await refreshSegments(database.deps, api.project.project_id, { signal: NEVER });
    },
  };
};
