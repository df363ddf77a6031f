import type { Scope } from '../base/db.ts';
import { inProject } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { Refusal } from '../base/refusal.ts';
import { showApart } from './apart.ts';
import type { Source } from './render.ts';
import { makeSample, withRest } from './sample.ts';
import type { Whom } from './schema.ts';
import { toPreview } from './shown.ts';
import { toSample } from './variables.ts';
import type { Happened, KnownSample, Person, Sample } from './variables.ts';

/** What this room is handed of rooms that it does not ask. */
export type PreviewDoors = {
  /** Whom a reference names, or null. */
  findPerson: (scope: Scope, ref: string) => Promise<Previewed | null>;
  findProjectName: (deps: Deps, projectId: string) => Promise<string>;
};

/** A person as an email would show them, and whether a server has confirmed their address. */
type Previewed = Person & { isConfirmed: boolean };
export type Asked = { source: Source; sample: Sample | null; whom: Whom };

const toHappened = ({ event }: Whom): Happened | null =>
  event
    ? {
        name: event.event,
        properties: event.properties,
        occurred_at: new Date(event.occurred_at ?? Date.now()),
        source: event.source,
      }
    : null;

/** The person and the event that are named; the sample's where one is not. */
const sampleFor = async (
  read: <T>(work: (scope: Scope) => Promise<T>) => Promise<T>,
  { sample, whom }: Asked,
  doors: PreviewDoors,
): Promise<KnownSample> => {
  const ref = whom.profile_id;
  const person = ref === undefined ? null : await read((scope) => doors.findPerson(scope, ref));
  if (ref !== undefined && person === null)
    throw new Refusal('invalid_request', {
      issues: [{ path: '/profile_id', message: 'there is no such profile' }],
    });
  const isWithheld = person?.isConfirmed === false && whom.event?.source !== 'browser';
  const known = toSample(person, isWithheld ? null : toHappened(whom));
  const made = sample ?? makeSample([]);
  return {
    sample: {
      profile: person ? known.sample.profile : made.profile,
      event: whom.event ? known.sample.event : made.event,
    },
    asserted: known.asserted,
  };
};

/** Renders a template as somebody would get it. Nothing is kept, and nobody is mailed. */
export const preview = async (
  deps: Deps,
  projectId: string,
  previewed: Asked,
  doors: PreviewDoors,
) => {
  const { sample, asserted } = await sampleFor(
    (work) => inProject(deps, projectId, work),
    previewed,
    doors,
  );
  const variables = withRest(sample, await doors.findProjectName(deps, projectId));
  const shown = await showApart(deps, projectId, {
    source: previewed.source,
    variables,
    asserted,
  });
  if (shown.kind === 'failed') throw new Refusal('template_failed', { detail: shown.reason });
  return toPreview(shown.message, shown.warnings);
};
