import { plain } from './terminal.ts';
import type { Style } from './terminal.ts';

/** A condition of a segment and what it was asked of, as the service tells it. */
export type Clause = {
  kind: string;
  holds: boolean;
  of?: readonly Clause[] | undefined;
  condition?: object | undefined;
  value?: unknown;
  events?: readonly { event_id: string; occurred_at: string }[] | undefined;
};

const GROUPS: Record<string, string> = {
  all: 'all of these',
  any: 'any of these',
  not: 'not this',
};

const inWords = (value: unknown): string =>
  typeof value === 'string' ? value.replaceAll('_', ' ') : JSON.stringify(value);

const testOf = (test: unknown): string => {
  const { is, ...with_ } = (test ?? {}) as { is?: string };
  return [inWords(is ?? ''), ...Object.values(with_).map((value) => JSON.stringify(value))].join(
    ' ',
  );
};

/** A condition in a line; one that is not known here, as it is written. */
const toWords = (kind: string, condition: object): string => {
  const { trait, test, event, count, within_days, occurrence, tag } = condition as Record<
    string,
    unknown
  >;
  switch (kind) {
    case 'trait':
      return `${String(trait)} ${testOf(test)}`;
    case 'event': {
      const window = within_days === undefined ? 'ever' : `in ${inWords(within_days)} days`;
      return `${String(event)} ${testOf(count)} times, ${window}`;
    }
    case 'event_time':
      return `${String(occurrence)} ${String(event)} ${testOf(test)}`;
    case 'tag':
      return `has the tag ${inWords(tag)}`;
    default:
      return JSON.stringify(condition);
  }
};

const valueOf = ({ value, events }: Clause): string => {
  const last = events?.[0] ? `, last ${events[0].occurred_at}` : '';
  return value === undefined ? last : `  is ${JSON.stringify(value)}${last}`;
};

/** The tree of conditions, each with whether it holds and why. */
export const showClauses = (clause: Clause, style: Style, indent = ''): string[] => {
  const { kind, holds, condition, of = [] } = clause;
  const says = GROUPS[kind] ?? toWords(kind, condition ?? {});
  const sign = holds ? style.green('✓') : style.red('✗');
  return [
    `${indent}${sign} ${plain(says)}${style.dim(plain(valueOf(clause)))}`,
    ...of.flatMap((one) => showClauses(one, style, `${indent}  `)),
  ];
};
