import { findFailing } from '../segments/segments.ts';
import type { Filter } from '../segments/segments.ts';

type Values = Readonly<Record<string, string | number | boolean>>;

/** What is asked of an event besides its name. */
type Asked = { where: readonly Filter[]; source?: 'server' | undefined };

/** Whether an event came from where a trigger or a step requires. */
export const isFrom = ({ source: required }: Pick<Asked, 'source'>, source: string): boolean =>
  required === undefined || required === source;

/** Whether an event of the right name is meant. */
export const isMeant = (asked: Asked, event: { properties: Values; source: string }): boolean =>
  isFrom(asked, event.source) && findFailing(asked.where, event.properties) === null;
