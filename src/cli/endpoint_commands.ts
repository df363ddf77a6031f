import type { Answer, Command, Given } from './command.ts';
import { ask, connect } from './connection.ts';
import { misused } from './failure.ts';
import { inProject } from './project.ts';
import type { Inside } from './project.ts';
import { styleOf, toTable, toTime } from './terminal.ts';
import type { World } from './terminal.ts';

/** As many as one page holds. */
const LISTED_MAX = 200;
const DELIVERIES_MAX = 20;

const listEndpoints = async (inside: Inside) => {
  const { client, projectId } = inside;
  const page = { projectId, limit: LISTED_MAX };
  return (await ask(inside, () => client.automations.endpoints.query(page))).items;
};

const list = async (given: Given, world: World): Promise<Answer> => {
  const items = await listEndpoints(await inProject(given, world, connect(given, world)));
  const rows = items.map(({ id, name, status, failing_since, event_types }) => [
    name,
    status === 'active' && failing_since !== null ? 'failing' : status,
    event_types.join(' '),
    id,
  ]);
  return {
    value: { items },
    text:
      rows.length === 0
        ? 'The project has no webhook endpoints. Add one in the Console, under Webhook endpoints.'
        : toTable(['NAME', 'STATUS', 'SUBSCRIBES TO', 'ID'], rows, styleOf(world)),
  };
};

/** The endpoint that a name or an id says. */
const findEndpoint = async (inside: Inside, named: string) => {
  const items = await listEndpoints(inside);
  const found = items.filter(({ id, name }) => id === named.toLowerCase() || name === named);
  const [endpoint, ...others] = found;
  if (endpoint === undefined)
    throw misused(`There is no endpoint ${named}: trunkline endpoints lists them.`);
  if (others.length > 0)
    throw misused(`${found.length} endpoints have the name ${named}. Say the id.`);
  return endpoint;
};

const WHICH = 'which endpoint: its name or id';

/** As the API checks them. */
type EventTypes = NonNullable<
  Parameters<Inside['client']['endpoints']['edit']['mutate']>[0]['change']['event_types']
>;

const subscribe = async (given: Given, world: World): Promise<Answer> => {
  const [named, ...types] = [given.word(0, WHICH), ...given.words.slice(1)];
  if (types.length === 0 && !given.is('none'))
    throw misused('Say which event types, such as email.bounced or system.*, or --none.');
  if (types.length > 0 && given.is('none'))
    throw misused('Say event types or --none, and not both.');
  const inside = await inProject(given, world, connect(given, world));
  const { client, projectId } = inside;
  const endpoint = await findEndpoint(inside, named);
  const changed = await ask(inside, () =>
    client.endpoints.edit.mutate({
      projectId,
      endpointId: endpoint.id,
      // The server refuses a type that it does not know, and says which there are.
      change: { event_types: types as EventTypes },
    }),
  );
  const said = changed.event_types.join(', ');
  return {
    value: changed,
    text: `${changed.name} ${said === '' ? 'subscribes to nothing' : `subscribes to ${said}`}.`,
  };
};

const enable = async (given: Given, world: World): Promise<Answer> => {
  const named = given.word(0, WHICH);
  const inside = await inProject(given, world, connect(given, world));
  const { client, projectId } = inside;
  const { id: endpointId } = await findEndpoint(inside, named);
  const change = { status: 'active' } as const;
  const changed = await ask(inside, () =>
    client.endpoints.edit.mutate({ projectId, endpointId, change }),
  );
  return { value: changed, text: `${changed.name} is enabled.` };
};

const test = async (given: Given, world: World): Promise<Answer> => {
  const named = given.word(0, WHICH);
  const inside = await inProject(given, world, connect(given, world));
  const { client, projectId } = inside;
  const { id: endpointId, name } = await findEndpoint(inside, named);
  const queued = await ask(inside, () => client.endpoints.test.mutate({ projectId, endpointId }));
  const text = `A test event is queued for ${name}. See: trunkline endpoints deliveries ${endpointId}`;
  return { value: queued, text };
};

const deliveries = async (given: Given, world: World): Promise<Answer> => {
  const named = given.word(0, WHICH);
  const inside = await inProject(given, world, connect(given, world));
  const { client, projectId } = inside;
  const { id: endpointId } = await findEndpoint(inside, named);
  const page = { projectId, endpointId, limit: DELIVERIES_MAX };
  const { items } = await ask(inside, () => client.endpoints.deliveries.query(page));
  const rows = items.map((one) => [
    one.status,
    one.type,
    one.http_status === null ? (one.reason ?? '') : String(one.http_status),
    String(one.attempts),
    toTime(one.queued_at),
    one.message_id,
  ]);
  const heads = ['STATUS', 'TYPE', 'ANSWER', 'ATTEMPTS', 'QUEUED', 'MESSAGE'];
  return {
    value: { items },
    text:
      rows.length === 0
        ? 'Nothing was sent by subscription in the last 24 hours.'
        : toTable(heads, rows, styleOf(world)),
  };
};

export const endpointCommands: Command[] = [
  {
    name: 'endpoints list',
    isDefaultOf: 'endpoints',
    wordsMax: 0,
    says: 'List the webhook endpoints, and what each subscribes to.',
    isOfProject: true,
    run: list,
  },
  {
    name: 'endpoints subscribe',
    takes: '<endpoint> <event types>',
    wordsMax: 50,
    says: 'Change what a webhook endpoint subscribes to.',
    more: 'Types: email.*, email.sent and others, system.*, system.bounce_rate and others. Quote the asterisk.',
    options: { none: { says: 'Subscribe to nothing.' } },
    isOfProject: true,
    run: subscribe,
  },
  {
    name: 'endpoints enable',
    takes: '<endpoint>',
    wordsMax: 1,
    says: 'Enable a webhook endpoint that is disabled.',
    isOfProject: true,
    run: enable,
  },
  {
    name: 'endpoints test',
    takes: '<endpoint>',
    wordsMax: 1,
    says: 'Send a test event to a webhook endpoint.',
    isOfProject: true,
    run: test,
  },
  {
    name: 'endpoints deliveries',
    takes: '<endpoint>',
    wordsMax: 1,
    says: 'List the newest deliveries of a webhook endpoint.',
    isOfProject: true,
    run: deliveries,
  },
];
