import type { Fault } from './faults.ts';
import { GIVE_UP_MS } from './probes.ts';
import { RECOVERY_MAX_MS } from './run.ts';
import type { Ran } from './run.ts';
import { sayElsewhere } from './shown_elsewhere.ts';

const SHOWN_MAX = 5;
const COMPLAINTS_SHOWN_MAX = 12;
const MS_PER_SECOND = 1_000;

const seconds = (ms: number): string => `${(ms / MS_PER_SECOND).toFixed(1)} s`;

const say = (...lines: string[]): void => {
  for (const line of lines) console.log(line);
};

/** A list, cut where it gets long. */
const sayList = (lines: readonly string[], most = SHOWN_MAX): void => {
  say(...lines.slice(0, most).map((line) => `        ${line}`));
  if (lines.length > most) say(`        and ${lines.length - most} more`);
};

const sayFaults = ({ injected }: Ran, wanted: readonly Fault[]): void => {
  say('\nFaults');
  for (const fault of wanted) {
    const name = `  ${fault.id.padEnd(4)} ${fault.name.padEnd(48)}`;
    if ('elsewhere' in fault) {
      say(`${name} not here: ${sayElsewhere(fault)}`);
      continue;
    }
    const told = injected.get(fault.id);
    if (told === undefined) {
      say(`${name} the time was over before its turn came   (${fault.how})`);
      continue;
    }
    const { times, recoveredMs } = told;
    const worst =
      times === 0 || recoveredMs.length === 0
        ? ''
        : `, work went on within ${seconds(Math.max(...recoveredMs.map((ms) => ms ?? GIVE_UP_MS)))}`;
    const count = times === 0 ? 'did not come about' : `${times} ×`;
    say(`${name} ${count}${worst}   (${fault.how}; ${fault.holds.join(' ')})`);
  }
};

/** What breaks a promise without being an invariant of the database. */
const findBrokenPromises = ({
  injected,
  journal,
  ownEnds,
  lostInDeploys,
  wrong,
}: Ran): Record<string, string[]> => ({
  'every fault that had its turn came about': [...injected].flatMap(([id, { times }]) =>
    times === 0 ? [id] : [],
  ),
  'work goes on within 60 s of any fault': [...injected].flatMap(([id, { recoveredMs }]) =>
    recoveredMs.flatMap((ms) => {
      if (ms === null) return [`${id}: the mail of a sign-up after it did not go out`];
      return ms > RECOVERY_MAX_MS ? [`${id}: ${seconds(ms)}`] : [];
    }),
  ),
  'nobody is answered 500, or refused what is right': journal.surprises,
  'no hand-off becomes unknown by a deploy': lostInDeploys,
  'what is signed is refused by another clock, says why, and is taken afterwards': wrong,
  'no process ends by itself, unless what it lives by was taken from it': ownEnds,
});

/** Everything that did not hold, in words. */
export const listBroken = (ran: Ran): string[] => [
  ...ran.verdicts.flatMap(({ id, broken }) => broken.map((one) => `${id} ${one}`)),
  ...Object.entries(findBrokenPromises(ran)).flatMap(([text, broken]) =>
    broken.map((one) => `${text}: ${one}`),
  ),
];

const sayVerdict = (name: string, broken: readonly string[]): void => {
  say(`  ${broken.length === 0 ? 'held  ' : 'BROKEN'} ${name}`);
  sayList(broken);
};

/** Says what ran and what held; answers whether everything did. */
export const report = (ran: Ran, wanted: readonly Fault[]): boolean => {
  const { journal, messages, idleAfterMs, complaints, verdicts, startedProcesses } = ran;
  const fates = Map.groupBy(journal.events, ({ fate }) => fate);
  const count = (fate: 'stored' | 'refused' | 'unknown') => fates.get(fate)?.length ?? 0;
  sayFaults(ran, wanted);
  say(
    '\nLoad',
    `  ${journal.people.length} people; events: ${count('stored')} stored, ${count('refused')} refused, ` +
      `${count('unknown')} unanswered; ${messages} messages; ${startedProcesses} processes started; ` +
      (idleAfterMs === null ? 'never idle' : `idle ${seconds(idleAfterMs)} after the load`),
  );
  say(
    ...[...journal.answers]
      .toSorted(([one], [other]) => one.localeCompare(other))
      .map(([name, times]) => `  ${String(times).padStart(7)} ${name}`),
  );
  say('\nSends');
  say(...[...ran.sends].map(([status, times]) => `  ${String(times).padStart(7)} ${status}`));
  say('\nComplaints in logs');
  const loudest = [...complaints].toSorted(([, one], [, other]) => other - one);
  sayList(
    loudest.map(([words, times]) => `${times} × ${words}`),
    COMPLAINTS_SHOWN_MAX,
  );
  say('\nInvariants');
  for (const { id, text, broken } of verdicts) sayVerdict(`${id.padEnd(4)} ${text}`, broken);
  const promises = Object.entries(findBrokenPromises(ran));
  for (const [text, broken] of promises) sayVerdict(text, broken);
  return listBroken(ran).length === 0;
};
