import type { Answer, Command, Given } from './command.ts';
import { ask, connect } from './connection.ts';
import { misused } from './failure.ts';
import { findExplained, findPerson, labelOf } from './find.ts';
import type { Explained } from './find.ts';
import { inProject } from './project.ts';
import type { Inside } from './project.ts';
import { showClauses } from './clauses.ts';
import { plain, styleOf, toTable, toTime } from './terminal.ts';
import type { World } from './terminal.ts';

type Decision = {
  decision: string;
  says: string;
  at: string | null;
  step_id: string | null;
  detail: Readonly<Record<string, string>>;
};
type Person = Awaited<ReturnType<typeof findPerson>>;
type Told = { decisions: readonly Decision[]; stopped_by: Decision | null };

/** What to do is a sentence of its own, and told below. */
const inDetail = (detail: Decision['detail']): string =>
  Object.entries(detail)
    .filter(([name]) => name !== 'fix')
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');

/** What to do about what failed or waits, once for each that it is about. */
const listFixes = (decisions: readonly Decision[]): string[] => [
  ...new Set(
    decisions.flatMap(({ decision, detail: { fix } }) =>
      fix === undefined ? [] : [`What to do about ${decision}: ${plain(fix)}`],
    ),
  ),
];

/** Every decision in its order, what stopped it, and what to do about it. */
const showDecisions = (heading: string, { decisions, stopped_by }: Told, world: World): string => {
  const style = styleOf(world);
  const rows = decisions.map(({ decision, says, at, step_id, detail }) => [
    at === null ? 'now' : toTime(at),
    step_id ?? '',
    decision,
    [says, inDetail(detail)].join(' ').trim(),
  ]);
  const end = stopped_by
    ? `${style.red('Stopped by')} ${stopped_by.decision}: ${plain(stopped_by.says)}`
    : style.green('Nothing stops it.');
  return [
    style.bold(heading),
    rows.length === 0
      ? 'Nothing was decided.'
      : toTable(['AT', 'STEP', 'DECISION', ''], rows, style),
    end,
    ...listFixes(decisions),
  ].join('\n');
};

type ReadSend = Awaited<ReturnType<Inside['client']['sends']['read']['query']>>;

/** What the provider answered to the newest hand-off, in its own words. */
const showAnswer = ({ answer, content_removed_at: removedAt }: ReadSend): string[] => {
  if (removedAt !== null)
    return [
      `Retention removed its content and the provider's answers on ${removedAt.slice(0, 10)}.`,
    ];
  if (answer === null) return [];
  const { code, enhanced_code, text, queue_id } = answer;
  const said = [code, enhanced_code, text].filter((part) => part !== null).join(' ');
  return [
    `The provider answered: ${plain(said)}`,
    ...(queue_id === null ? [] : [`Its id in the provider's queue: ${plain(queue_id)}`]),
  ];
};

const explainSend = async (inside: Inside, { id }: Explained, world: World): Promise<Answer> => {
  const { client, projectId } = inside;
  const told = await ask(inside, () =>
    client.automations.explainSend.query({ projectId, sendId: id }),
  );
  const send = await ask(inside, () => client.sends.read.query({ projectId, sendId: id }));
  return {
    value: { ...told, answer: send.answer, content_removed_at: send.content_removed_at },
    text: [showDecisions(`Send ${id}`, told, world), ...showAnswer(send)].join('\n'),
  };
};

const explainAutomation = async (
  inside: Inside,
  { id, name }: Explained,
  person: Person,
  world: World,
): Promise<Answer> => {
  const { client, projectId } = inside;
  const asked = { projectId, automationId: id, profileId: person.id };
  const told = await ask(inside, () => client.automations.explain.query(asked));
  return { value: told, text: showDecisions(`${plain(name)}: ${labelOf(person)}`, told, world) };
};

const explainSegment = async (
  inside: Inside,
  { id, name }: Explained,
  person: Person,
  world: World,
): Promise<Answer> => {
  const { client, projectId } = inside;
  const asked = { projectId, segmentId: id, profileId: person.id };
  const told = await ask(inside, () => client.segments.explain.query(asked));
  const style = styleOf(world);
  const notes = [
    ...(told.is_excluded ? ['Only because their address is suppressed.'] : []),
    ...(told.is_counted ? [] : ['The past is still being counted: this may say too little.']),
    ...(told.unready_segments.length > 0
      ? ['Not all members of a segment it asks about are known yet.']
      : []),
  ];
  const heading = `${labelOf(person)} is ${told.is_member ? '' : 'not '}in ${plain(name)}.`;
  return {
    value: told,
    text: [style.bold(heading), ...notes, ...showClauses(told.where, style)].join('\n'),
  };
};

const explain = async (given: Given, world: World): Promise<Answer> => {
  const what = given.word(0, 'what: an automation or a segment and a person, or a send');
  const who = given.words[1];
  const inside = await inProject(given, world, connect(given, world));
  const found = await findExplained(inside, what);
  if (found.kind === 'send') {
    if (who === undefined) return explainSend(inside, found, world);
    throw misused(
      `No automation and no segment has the id ${what}; a send is of one person already.`,
    );
  }
  if (who === undefined)
    throw misused(`Say who: trunkline explain ${JSON.stringify(found.name)} <person>`);
  const person = await findPerson(inside, who);
  return found.kind === 'segment'
    ? explainSegment(inside, found, person, world)
    : explainAutomation(inside, found, person, world);
};

export const explainCommand: Command = {
  name: 'explain',
  takes: '<what> [<person>]',
  wordsMax: 2,
  says: 'Say why somebody was sent a mail, is in a segment, or not.',
  more:
    '<what> is an automation or a segment, by name or id, with the person: their external id, ' +
    'anonymous id, profile id or address. Or it is a send, by its id alone.',
  isOfProject: true,
  run: explain,
};
