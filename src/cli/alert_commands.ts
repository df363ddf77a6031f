import type { Answer, Command, Given } from './command.ts';
import { ask, connect } from './connection.ts';
import { inProject } from './project.ts';
import { styleOf, toTable, toTime } from './terminal.ts';
import type { World } from './terminal.ts';

/** As many as one page holds. */
const LISTED_MAX = 200;

const list = async (given: Given, world: World): Promise<Answer> => {
  const inside = await inProject(given, world, connect(given, world));
  const { client, projectId } = inside;
  const status = given.is('all') ? 'all' : 'open';
  const { items } = await ask(inside, () =>
    client.alerts.list.query({ projectId, status, limit: LISTED_MAX }),
  );
  if (items.length === 0)
    return { value: { items }, text: status === 'open' ? 'No alert is open.' : 'No alerts.' };
  const rows = items.map((alert) => [
    alert.status,
    alert.title,
    alert.subject.name,
    toTime(alert.opened_at),
    alert.resolved_at === null ? '' : toTime(alert.resolved_at),
  ]);
  const open = items.filter((alert) => alert.status === 'open');
  const said = open.map(({ summary, fix }) => `${summary}\n${fix}`);
  const table = toTable(['STATUS', 'ALERT', 'ABOUT', 'SINCE', 'UNTIL'], rows, styleOf(world));
  return { value: { items }, text: [table, ...said].join('\n\n') };
};

export const alertCommands: Command[] = [
  {
    name: 'alerts',
    wordsMax: 0,
    says: 'List what the owner of the project has to act on.',
    options: { all: { says: 'Those of the last 90 days too.' } },
    isOfProject: true,
    run: list,
  },
];
